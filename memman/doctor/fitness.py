"""Whether the model is fit for the job: with leave, it works on graded notes.

Looks at: with `--billable`, what the model makes of 40 graded notes ([providers](providers.md))
Finds: fails where it is unfit; warns where it is fit for notes but not for changes or turns, and where it could not
be asked to the end
"""

from collections.abc import Iterator

from memman import providers
from memman.config.env import Settings
from memman.doctor.finding import Context, Finding, ok, shell, skipped, warn
from memman.model.errors import ProviderError

_KEYS = {"fast": "MEMMAN_LLM_MODEL_FAST", "slow": "MEMMAN_LLM_MODEL_SLOW"}
_COMPARE = "`memman providers compare` shows all figures, beside those of the built-in model"


def check(context: Context) -> Iterator[Finding]:
    """Where the person allows it, judge what the model makes of the graded notes."""
    provider = providers.llm_provider(context.settings)
    if provider == "builtin":
        yield ok("built-in model, no other to try; `memman providers compare` shows its figures")
        return
    if not context.billable:
        yield skipped("only --billable has the model work on graded notes")
        return
    from memman.trial.notes import graded
    from memman.trial.run import accounted, measure
    from memman.trial.verdict import verdict

    notes = graded()
    try:
        with accounted(context.data) as ledger:
            trial = measure(context.settings, ledger, notes)
    except ProviderError as error:
        yield warn(
            f"{provider} could not be tried to the end: {error}", hint="see what `memman doctor` says of the model"
        )
        return
    says = verdict(notes, trial.faults)
    told = f"{provider} {', '.join(trial.models)} is {says.says}"
    if says.level == "ok":
        yield ok(told)
        return
    names = " and ".join(_KEYS[role] for role in says.roles)
    yield Finding(says.level, told, mended(context.settings, says.roles), f"set {names} to a better model; {_COMPARE}")


def mended(settings: Settings, roles: tuple[str, ...]) -> str:
    """Return the command that sets another model: the provider's default, or where that is in use the built-in one."""
    usual = providers.in_force(settings.replaced(dict.fromkeys(_KEYS.values())))["llm"]
    chosen = providers.in_force(settings)["llm"]
    other = [role for role in roles if chosen[role] != usual[role] and not settings["MEMMAN_LLM_ENDPOINT"]]
    if not other:
        return shell("memman", "config", "set", "MEMMAN_LLM_PROVIDER", "builtin")
    return " && ".join(shell("memman", "config", "set", _KEYS[role], usual[role]) for role in other)
