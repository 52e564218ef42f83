// memman for opencode: puts what earlier sessions left in front of the model, hands each finished turn to memman's queue.
// A turn never fails or waits for it: every call has a time limit and every failure means "nothing to say".
import { dirname } from "node:path"
//= hook.js

const HOST = "opencode"
const SESSIONS_KEPT = 200
// Characters of the prompts of one turn, the newest.
const PROMPT_KEPT = 65_536
const QUOTED = /^"((?:[^"]|(?<=\\)")*)"$/
const TITLE = /^You are a title generator/

/** The user's own words; `opencode run` puts quotes around them, and a backslash before their own. */
const spoken = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text.trim().replace(QUOTED, (_, words) => words.replaceAll('\\"', '"')))
    .join("\n")

export const Memman = async ({ directory }) => {
  const sessions = new Map()
  // Sessions this process saw begin, and the parent of those that are a sub-agent's.
  const begun = new Map()

  const send = (event, id, fields) => context(event, { session_id: id, cwd: directory, ...fields })
  // What an earlier process put in front of the model is not in a session that goes on: it counts as cleared.
  const start = (id, source) =>
    begun.get(id) ? send("subagent-start", id) : send("session-start", id, { source })
  const session = (id) => {
    if (!sessions.has(id)) {
      sessions.set(id, { start: start(id, begun.has(id) ? "startup" : "clear"), hits: new Map() })
      if (sessions.size > SESSIONS_KEPT) sessions.delete(sessions.keys().next().value)
    }
    return sessions.get(id)
  }

  const finished = async (id) => {
    const { prompt, reply } = session(id)
    Object.assign(session(id), { prompt: "", reply: "" })
    if (prompt && reply && !begun.get(id)) await send("stop", id, { prompt, last_assistant_message: reply })
  }
  const compacted = async (id) => {
    const summary = session(id).reply
    if (summary) await send("post-compact", id, { compact_summary: summary })
    Object.assign(session(id), { reply: "", start: start(id, "compact") })
  }
  const heard = {
    "session.created": ({ info }) => begun.set(info.id, info.parentID),
    "session.idle": ({ sessionID }) => finished(sessionID),
    "session.compacted": ({ sessionID }) => compacted(sessionID),
    "session.deleted": ({ info }) => sessions.delete(info.id) && begun.delete(info.id),
  }

  return guardedAll({
    event: ({ event }) => heard[event.type]?.(event.properties),

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const here = session(sessionID)
      const prompt = spoken(parts)
      here.prompt = [here.prompt, prompt].filter(Boolean).join("\n\n").slice(-PROMPT_KEPT)
      await here.start
      const hits = prompt && (await send("user-prompt", sessionID, { prompt }))
      if (hits) here.hits.set(message.id, hits)
    },

    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || TITLE.test(system[0])) return
      const block = await session(sessionID).start
      if (block) system.push(block)
    },

    // Only what goes to the model is added to: the hits are neither shown nor kept in the user's session.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      messages.forEach(({ info, parts }, at) => {
        const text = sessions.get(info.sessionID)?.hits.get(info.id)
        if (!text || parts.some((part) => part.text === text)) return
        const hits = { ...parts[0], id: `${parts[0].id}-memman`, type: "text", text, synthetic: true }
        messages[at] = { info, parts: [...parts, hits] }
      })
    },

    // The agent's commands say who runs them, in which session, and find memman; memman's own hooks are run without.
    "shell.env": async ({ sessionID }, { env }) => {
      env.MEMMAN_AGENT = "opencode"
      env.MEMMAN_SESSION = sessionID ?? ""
      env.PATH = `${env.PATH ?? process.env.PATH}:${dirname(MEMMAN)}`
    },

    "experimental.text.complete": async ({ sessionID }, { text }) => {
      session(sessionID).reply = text
    },
  })
}
