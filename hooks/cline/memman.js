// memman for Cline: puts what earlier sessions left in front of the model, hands each finished turn to memman's queue.
// A turn never fails or waits for it: every call has a time limit and every failure means "nothing to say".
import { spawn } from "node:child_process"

const MEMMAN = __MEMMAN__
const LIMIT_MS = 1500
// How long a memman that did not answer in time is left alone.
const REST_MS = 60_000
// What Cline puts around and into what the user types.
const WRAPPED = /<mode_notice>[^]*?<\/mode_notice>|<\/?user_input[^>]*>/g

// Cline's own process may have what tells memman a command of the agent's: a hook is none.
const { CLINE_NO_INTERACTIVE, CLINE_CONNECTOR_CLI_LAUNCH, ...ENV } = process.env

let restUntil = 0

/** Runs one hook, without a shell, and resolves with what it answers. */
const hook = (event, payload) =>
  new Promise((resolve) => {
    if (Date.now() < restUntil) return resolve({})
    const child = spawn(MEMMAN, ["hook", event, "--host", "cline"], {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
      env: ENV,
    })
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

/** What adds a context to the conversation, nothing where there is none. */
const added = ({ additionalContext }) =>
  typeof additionalContext === "string" && additionalContext ? { appendContext: additionalContext } : undefined

/** The user's own words: the newest message of theirs. */
const spoken = (messages) => {
  const own = messages.findLast(({ role, metadata }) => role === "user" && metadata?.displayRole !== "system")
  const texts = (own?.content ?? []).filter((part) => part.type === "text").map((part) => part.text)
  return texts.join("\n").replace(WRAPPED, "").trim()
}

/** The commands of a tool that runs some, as one. */
const commands = (input) =>
  [input?.commands ?? []]
    .flat()
    .map((one) => (typeof one === "string" ? one : [one?.command, ...(one?.args ?? [])].join(" ")))
    .join("\n")

let session = { cwd: process.cwd() }

const guarded = (hooks) =>
  Object.fromEntries(
    Object.entries(hooks).map(([name, run]) => [
      name,
      async (context) => {
        try {
          return await run(context)
        } catch {
          // Memory is never worth a failed turn.
        }
      },
    ]),
  )

export default {
  name: "memman",
  manifest: { capabilities: ["hooks", "rules"] },

  // Cline waits four seconds for its plugins to load, and starts without them then: the block comes after.
  setup(api, { session: own, workspaceInfo }) {
    session = { session_id: own?.sessionId ?? "", cwd: workspaceInfo?.rootPath ?? process.cwd() }
    const start = hook("session-start", { ...session, source: "startup" })
    api.registerRule({ id: "memman", content: async () => (await start).additionalContext ?? "" })
  },

  hooks: guarded({
    async beforeRun({ snapshot }) {
      if (snapshot.parentAgentId) return added(await hook("subagent-start", session))
      const prompt = spoken(snapshot.messages)
      return prompt ? added(await hook("user-prompt", { ...session, prompt })) : undefined
    },

    async afterRun({ snapshot, result }) {
      if (snapshot.parentAgentId || result.status !== "completed") return
      const prompt = spoken(result.messages ?? snapshot.messages)
      await hook("stop", { ...session, prompt, last_assistant_message: result.outputText })
    },

    async beforeTool({ toolCall }) {
      const command = toolCall.toolName === "run_commands" ? commands(toolCall.input) : ""
      if (!command) return
      const said = await hook("pre-command", { ...session, tool_name: "Bash", tool_input: { command } })
      return said.permissionDecision ? { skip: true, reason: said.permissionDecisionReason } : added(said)
    },
  }),
}
