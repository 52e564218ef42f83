// memman for Cline: puts what earlier sessions left in front of the model, hands each finished turn to memman's queue.
// A turn never fails or waits for it: every call has a time limit and every failure means "nothing to say".
//= hook.js

const HOST = "cline"
// What Cline puts around and into what the user types.
const WRAPPED = /<mode_notice>[^]*?<\/mode_notice>|<\/?user_input[^>]*>/g

// Cline's own process may have what tells memman a command of the agent's: a hook is none.
const { CLINE_NO_INTERACTIVE, CLINE_CONNECTOR_CLI_LAUNCH, ...ENV } = process.env
const ask = (event, payload) => hook(event, payload, ENV)

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

export default {
  name: "memman",
  manifest: { capabilities: ["hooks", "rules"] },

  // Cline waits four seconds for its plugins to load, and starts without them then: the block comes after.
  setup(api, { session: own, workspaceInfo }) {
    session = { session_id: own?.sessionId ?? "", cwd: workspaceInfo?.rootPath ?? process.cwd() }
    const start = ask("session-start", { ...session, source: "startup" })
    api.registerRule({ id: "memman", content: async () => (await start).additionalContext ?? "" })
  },

  hooks: guardedAll({
    async beforeRun({ snapshot }) {
      if (snapshot.parentAgentId) return added(await ask("subagent-start", session))
      const prompt = spoken(snapshot.messages)
      return prompt ? added(await ask("user-prompt", { ...session, prompt })) : undefined
    },

    async afterRun({ snapshot, result }) {
      if (snapshot.parentAgentId || result.status !== "completed") return
      const prompt = spoken(result.messages ?? snapshot.messages)
      await ask("stop", { ...session, prompt, last_assistant_message: result.outputText })
    },

    async beforeTool({ toolCall }) {
      const command = toolCall.toolName === "run_commands" ? commands(toolCall.input) : ""
      if (!command) return
      const said = await ask("pre-command", { ...session, tool_name: "Bash", tool_input: { command } })
      return said.permissionDecision ? { skip: true, reason: said.permissionDecisionReason } : added(said)
    },
  }),
}
