// memman for OpenClaw: puts what earlier sessions left in front of the model, hands each finished turn to memman's queue.
// A turn never fails or waits for it: every call has a time limit and every failure means "nothing to say".
//= hook.js

const HOST = "openclaw"
const RUNS_KEPT = 200

/** Only what a person typed to this agent is recalled with and captured, not a heartbeat, a job or a parent agent. */
const typed = ({ trigger, sessionKey }) => (trigger ?? "user") === "user" && !sessionKey?.includes(":subagent:")

const text = ({ content }) =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .filter((part) => part.type === "text")
        .map((part) => part.text)
        .join("\n")

const lastReply = (messages) =>
  (messages ?? [])
    .filter(({ role }) => role === "assistant")
    .map(text)
    .findLast((said) => said)

const prompts = new Map()

/** Names what a prompt and its reply have in common: some versions number no runs. */
const turn = ({ runId, sessionId }) => runId ?? sessionId

const send = (event, ctx, fields) => context(event, { session_id: ctx.sessionId, cwd: ctx.workspaceDir, ...fields })

// OpenClaw keeps nothing of the context in the session's history, so each turn is given all that it needs.
const before = async (event, ctx) => {
  if (!typed(ctx)) return
  const prompt = event.currentUserMessage ?? event.prompt
  prompts.set(turn(ctx), prompt)
  if (prompts.size > RUNS_KEPT) prompts.delete(prompts.keys().next().value)
  const block = await send("session-start", ctx, { source: "clear" })
  const hits = prompt && (await send("user-prompt", ctx, { prompt }))
  return { ...(block && { appendSystemContext: block }), ...(hits && { prependContext: hits }) }
}

const after = async (event, ctx) => {
  const prompt = prompts.get(turn(ctx))
  prompts.delete(turn(ctx))
  const reply = lastReply(event.messages)
  if (prompt && reply) await send("stop", ctx, { prompt, last_assistant_message: reply })
}

export default {
  id: "memman",
  name: "memman",
  description: "Persistent memory across sessions",
  register(api) {
    api.on("before_prompt_build", guarded(before), { timeoutMs: LIMIT_MS })
    api.on("agent_end", guarded(after), { timeoutMs: LIMIT_MS })
  },
}
