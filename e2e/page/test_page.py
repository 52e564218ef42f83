"""The page in a real browser: every view, deciding and undoing by clicks and by the keyboard alone, accessibility."""

import os
import pty
import re
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlencode

import pytest
from filelock import FileLock
from registry import QUIET, cache
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

WANTED = Path(__file__).with_name("package.json")
HOSTILE = "The <b>kestrel</b> is <script>document.title='owned'</script> the mascot of \"billing\"."
NOTES = (HOSTILE, "We deploy billing to Fly.io from the main branch.", "Always run make lint before committing.")
OLD = "The bakery opens at seven in the morning."
# An agent says otherwise, so that a person has to decide.
NEW = "Since Monday the bakery opens at nine in the morning."
# Each would put its word into the title if any of it were taken for markup.
CORPUS = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "<svg/onload=document.title='owned'>",
    "\"' autofocus onfocus=document.title='owned' x='",
    "</textarea></pre></style></title><script>document.title='owned'</script>",
    "</option><iframe srcdoc=\"<script>parent.document.title='owned'</script>\">",
    "<meta http-equiv=refresh content='0;url=javascript:document.title=1'>",
    '<form method="post" action="/act/wrong"><button autofocus>Keep</button></form>',
    "javascript:document.title='owned'",
    "&lt;script&gt;document.title='owned'&lt;/script&gt;",
)
WIDTHS = (1280, 375)
PATIENCE = 60


@pytest.fixture(name="link", scope="module")
def _link(user: dict[str, str]) -> Iterator[str]:
    """Serve the page to a terminal, as a person does; return the link that is told there."""
    for text in (*NOTES, OLD):
        memman(user, "remember", text)
    memman(user, "scheduler", "drain")
    memman(user, "remember", "--source", "agent", NEW)
    for number, text in enumerate(CORPUS):
        # Said in a session of that name, in a folder of that name, about that: all that a note may say of itself.
        folder = Path(user["HOME"], text.replace("/", " "))
        folder.mkdir()
        said = user | {"MEMMAN_SESSION": text}
        names = ("--entities", text.replace(",", ""))
        memman(said, "remember", *names, f"Kestrel {number} greets by {text}.", folder=folder)
    memman(user, "scheduler", "drain")
    child, terminal = at_terminal(user, "rule", "add", " ".join(CORPUS)[:500])
    told(terminal, b"N]")
    os.write(terminal, b"y\n")
    os.waitpid(child, 0)
    os.close(terminal)
    child, terminal = at_terminal(user, "page")
    shown = told(terminal, b"Ctrl-C")
    yield re.search(r"http://[\w.:]+/#[\w-]+", shown.decode())[0]
    os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.fixture(name="browser", scope="module")
def _browser(link: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Open the link in Debian's chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    home = tmp_path_factory.mktemp("chromium")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", f"user-data-dir={home}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, Service(shutil.which("chromedriver"))) as browser:
        browser.get(link)
        waiting(browser).until(lambda one: one.find_elements(By.TAG_NAME, "nav"))
        yield browser


@pytest.fixture(name="axe", scope="module")
def _axe() -> str:
    """Return axe-core, from npm, in a cache that outlives a test run."""
    place = cache() / blake2b(WANTED.read_bytes(), digest_size=6).hexdigest()
    place.mkdir(parents=True, exist_ok=True)
    script = place / "node_modules/axe-core/axe.min.js"
    with FileLock(place / "lock"):
        if not script.exists():
            shutil.copy(WANTED, place)
            subprocess.run(["npm", "install", "--ignore-scripts", *QUIET], cwd=place, check=True, capture_output=True)
    return script.read_text()


def waiting(browser: webdriver.Chrome) -> WebDriverWait[webdriver.Chrome]:
    """Return what waits for something; an element may go with its page while it is looked at."""
    return WebDriverWait(browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException])


def memman(user: dict[str, str], *words: str, folder: Path | None = None) -> str:
    """Run a command as somebody who sits at no terminal; return what it prints."""
    where = folder or user["HOME"]
    return subprocess.run(["memman", *words], env=user, check=True, capture_output=True, text=True, cwd=where).stdout


def at_terminal(user: dict[str, str], *words: str) -> tuple[int, int]:
    """Start a command at a terminal of its own; return its process, and the other end."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(user["HOME"])
        os.execvpe("memman", ["memman", *words], user)  # noqa: S606 - a terminal of its own is what is tried
    return child, terminal


def told(terminal: int, until: bytes) -> bytes:
    """Read what is said at a terminal, until something."""
    said = b""
    while until not in said:
        said += os.read(terminal, 4096)
    return said


def status(user: dict[str, str], text: str) -> str:
    """Return what the command line says of a memory: whether the list has it."""
    return "current" if text in memman(user, "list", "--limit", "100") else "gone"


def pressed(browser: webdriver.Chrome, keys: str) -> None:
    """Type into whatever has the focus, and wait until the page that comes is there."""
    before = browser.find_element(By.TAG_NAME, "html")
    browser.switch_to.active_element.send_keys(keys)
    waiting(browser).until(lambda one: one.find_element(By.TAG_NAME, "html") != before)


def focused(browser: webdriver.Chrome) -> str:
    """Go on by a tab; return what has the focus now."""
    browser.switch_to.active_element.send_keys(Keys.TAB)
    one = browser.switch_to.active_element
    return one.get_attribute("aria-label") or one.text


def views(browser: webdriver.Chrome) -> list[str]:
    """Return the address of every page that the top leads to, of a search, and of a memory."""
    origin = browser.execute_script("return location.origin")
    browser.get(origin + "/")
    links = [one.get_attribute("href") for one in browser.find_elements(By.CSS_SELECTOR, "nav a, main a")]
    memory = [one for one in links if "/memory" in one][:1]
    return [*dict.fromkeys(one for one in links if "/memory" not in one), origin + "/search?q=billing", *memory]


def test_every_view_is_readable_for_everybody(browser: webdriver.Chrome, axe: str) -> None:
    """Axe finds nothing serious on any view, light or dark, wide or narrow; nothing is wider than the phone."""
    found: list[tuple[object, ...]] = []
    there = views(browser)
    assert len(there) >= 7
    for width in WIDTHS:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
        )
        for address in there:
            browser.get(address)
            browser.execute_script(axe)
            for theme in ("light", "dark"):
                feature = {"name": "prefers-color-scheme", "value": theme}
                browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
                done = browser.execute_async_script("axe.run().then(arguments[0])")
                found += [
                    (address, theme, width, one["id"], [node["html"][:120] for node in one["nodes"][:2]])
                    for one in done["violations"]
                    if one["impact"] in {"serious", "critical"}
                ]
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            found += [(address, width, "scrolls sideways", wide)] if wide > width else []
            assert "owned" not in browser.title
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found == []
    refused = [one["message"] for one in browser.get_log("browser") if "favicon" not in one["message"]]
    assert [one for one in refused if "Content Security Policy" in one] == []


def test_wrong_and_undo_by_clicks(browser: webdriver.Chrome, user: dict[str, str]) -> None:
    """A memory that is said to be wrong is gone from the command line, and the notice's button brings it back."""
    views(browser)
    browser.find_element(By.XPATH, "//li[contains(., 'Fly.io')]//button[starts-with(@aria-label, 'Wrong')]").click()
    waiting(browser).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".notice"))
    assert status(user, "Fly.io") == "gone"
    assert "memman forget --undo" in browser.find_element(By.CSS_SELECTOR, ".notice").text
    browser.find_element(By.CSS_SELECTOR, ".notice button").click()
    waiting(browser).until(lambda one: "restored" in one.find_element(By.TAG_NAME, "main").text)
    assert status(user, "Fly.io") == "current"


def test_the_same_by_the_keyboard_alone(browser: webdriver.Chrome, user: dict[str, str]) -> None:
    """Tab and Enter reach every button; one that is pressed does what a click does."""
    views(browser)
    for _ in range(200):
        if focused(browser).startswith("Wrong"):
            break
    pressed(browser, Keys.ENTER)
    assert "memman forget --undo" in browser.find_element(By.CSS_SELECTOR, ".notice").text
    for _ in range(200):
        if focused(browser) == "Undo":
            break
    pressed(browser, Keys.ENTER)
    assert "restored" in browser.find_element(By.CSS_SELECTOR, ".notice").text
    assert status(user, "Fly.io") == "current"


def test_a_pair_is_decided_by_clicks(browser: webdriver.Chrome, user: dict[str, str]) -> None:
    """The words that differ are marked; what is clicked, and its undo, is what the command line shows."""

    def clicked(label: str, says: str) -> None:
        browser.find_element(By.XPATH, f"//button[normalize-space()='{label}']").click()
        waiting(browser).until(
            lambda one: says in "".join(notice.text for notice in one.find_elements(By.CSS_SELECTOR, ".notice"))
        )

    def asked() -> bool:
        browser.get(browser.execute_script("return location.origin") + "/decide")
        return OLD in browser.find_element(By.TAG_NAME, "main").text

    assert asked()
    marked = {one.text for one in browser.find_elements(By.TAG_NAME, "mark")}
    assert {"seven", "nine"} <= marked
    assert not {"bakery", "opens"} & marked
    clicked("Yes, it replaces it", "superseded by")
    assert (status(user, OLD), status(user, NEW)) == ("gone", "current")
    assert OLD not in memman(user, "review", "list")
    clicked("Undo", "current again")
    assert status(user, OLD) == "current"


def test_no_text_is_run(browser: webdriver.Chrome) -> None:
    """Whatever a note says, in any field, a browser that shows it runs none of it and loads nothing."""
    ours = browser.execute_script("return location.origin")
    browser.get(ours + "/?since=30d&most=100")
    memories = {one.get_attribute("href") for one in browser.find_elements(By.CSS_SELECTOR, "main a.id")}
    assert len(memories) >= len(CORPUS)
    asked = [f"{ours}/search?{urlencode({'q': text})}" for text in CORPUS]
    for address in (
        f"{ours}/?since=30d&most=100",
        f"{ours}/next",
        f"{ours}/decide",
        f"{ours}/stats",
        *memories,
        *asked,
    ):
        browser.get(address)
        for one in browser.find_elements(By.TAG_NAME, "summary"):
            one.click()
        assert browser.title.endswith(" - memman")
        assert browser.current_url == address
        assert not browser.find_elements(
            By.CSS_SELECTOR, "script, img, iframe, main svg [onload], [autofocus], [onfocus]"
        )
        loaded = (
            "return performance.getEntriesByType('resource').map(one => one.name).filter(one => !/favicon/.test(one))"
        )
        assert browser.execute_script(loaded) == []


def test_the_link_opens_no_second_browser(browser: webdriver.Chrome, link: str) -> None:
    """Without the cookie the same link shows the door, and says that it was used."""
    cookies = browser.get_cookies()
    assert [(one["httpOnly"], one["sameSite"]) for one in cookies] == [(True, "Strict")]
    browser.delete_all_cookies()
    browser.get("about:blank")
    browser.get(link)
    used = browser.find_element(By.ID, "used")
    waiting(browser).until(lambda _: used.is_displayed())
    assert not browser.find_elements(By.TAG_NAME, "nav")
