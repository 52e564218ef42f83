import { spawn } from "node:child_process"

const MEMMAN = __MEMMAN__
const LIMIT_MS = 1500
// How long a memman that did not answer in time is left alone.
const REST_MS = 60_000

let restUntil = 0

/** Runs one hook, without a shell, and resolves with what it has to say, {} for nothing. */
const hook = (event, payload, env = process.env) =>
  new Promise((resolve) => {
    if (Date.now() < restUntil) return resolve({})
    const child = spawn(MEMMAN, ["hook", event, "--host", HOST], { stdio: ["pipe", "pipe", "ignore"], detached: true, env })
    const end = (said) => {
      clearTimeout(late)
      resolve(answer(said))
    }
    const late = setTimeout(() => {
      restUntil = Date.now() + REST_MS
      end("")
      stop(child)
    }, LIMIT_MS)
    let said = ""
    child.stdout.setEncoding("utf8").on("data", (part) => (said += part))
    for (const part of [child, child.stdin, child.stdout]) part.on("error", () => end(""))
    child.on("close", () => end(said))
    child.stdin.end(JSON.stringify(payload))
  }).catch(() => ({}))

/** Runs one hook, and resolves with the context it has to add, "" for none. */
const context = async (event, payload) => {
  const { additionalContext } = await hook(event, payload)
  return typeof additionalContext === "string" ? additionalContext : ""
}

/** Ends a program that is late, and what it started. */
const stop = (child) => {
  try {
    child.stdout.destroy()
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

const answer = (said) => {
  try {
    return JSON.parse(said).hookSpecificOutput ?? {}
  } catch {
    return {}
  }
}

/** Keeps a failure of ours from the host: memory is never worth a failed turn. */
const guarded = (run) => async (...args) => {
  try {
    return await run(...args)
  } catch {
    // The turn goes on without it.
  }
}

const guardedAll = (hooks) => Object.fromEntries(Object.entries(hooks).map(([name, run]) => [name, guarded(run)]))
