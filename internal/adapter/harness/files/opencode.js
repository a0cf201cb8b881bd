import { spawnSync } from "node:child_process"
import { appendFileSync, readFileSync } from "node:fs"

// Tells Orange what a session of opencode is doing. The constant orange, which is put
// in front of this file, names the command to call and the prompt to go on with.

const subagents = new Set() // ids of sessions that a session of ours started
const messages = new Map() // id -> { session, role, usage, parts: Map(id -> text) }
let last = "" // the status that was told
let failure = "" // the error that ended the turn

function tell(event, payload) {
  if (!orange.hook.length) return
  const [program, ...args] = orange.hook
  spawnSync(program, [...args, event], { input: JSON.stringify(payload), stdio: ["pipe", "ignore", "ignore"], timeout: 10000 })
}

// Writes down a part of the conversation, in the words of opencode run --format json.
function write(type, part, error) {
  try {
    const line = JSON.stringify({ type, timestamp: Date.now(), part, error })
    appendFileSync(orange.transcript, line + "\n", { mode: 0o600 })
  } catch {
    // a full disk must not end the session
  }
}

// Writes down what is whole: a text that has ended, a tool that runs or has answered.
const written = new Map() // id of a part -> how far it was written
function record(part) {
  if (subagents.has(part.sessionID)) return
  const status = part.type === "tool" ? part.state?.status : part.time?.end ? "completed" : ""
  const whole = part.type === "tool" ? ["running", "completed", "error"].includes(status) : part.type === "text" && status && !part.synthetic
  if (!whole || written.get(part.id) === status || messages.get(part.messageID)?.role === "user") return
  written.set(part.id, status)
  if (part.type === "text") return write("text", { id: part.id, text: part.text })
  const { input, output, error, metadata } = part.state
  const answer = { output: String(output ?? "").slice(0, 8192), error: String(error ?? "").slice(0, 8192) }
  write("tool_use", { id: part.id, tool: part.tool, callID: part.callID, state: { status, input, ...answer, metadata: { exit: metadata?.exit } } })
}

function message(id, session) {
  if (!messages.has(id)) messages.set(id, { session, role: "", usage: null, parts: new Map() })
  return messages.get(id)
}

// What was said last, by which model, and what all of it cost.
function account(session) {
  const usage = { input: 0, output: 0, cache: 0, cost: 0 }
  let final = ""
  let model = ""
  for (const m of messages.values()) {
    if (m.role !== "assistant") continue
    if (m.usage) {
      usage.input += m.usage.tokens?.input ?? 0
      usage.output += (m.usage.tokens?.output ?? 0) + (m.usage.tokens?.reasoning ?? 0)
      usage.cache += (m.usage.tokens?.cache?.read ?? 0) + (m.usage.tokens?.cache?.write ?? 0)
      usage.cost += m.usage.cost ?? 0
    }
    const text = [...m.parts.values()].join("\n")
    if (m.session === session && text) final = text
    if (m.session === session && m.model) model = m.model
  }
  return { usage, final, model }
}

function note(event) {
  const p = event.properties ?? {}
  if (event.type === "session.created" && p.info?.parentID) subagents.add(p.info.id)
  if (event.type === "message.updated" && p.info) {
    const m = message(p.info.id, p.info.sessionID)
    m.role = p.info.role
    m.model = p.info.modelID
    if (p.info.tokens) m.usage = { tokens: p.info.tokens, cost: p.info.cost }
  }
  if (event.type === "message.part.updated" && p.part?.type === "text" && !p.part.synthetic) {
    message(p.part.messageID, p.part.sessionID).parts.set(p.part.id, p.part.text)
  }
  if (event.type === "message.part.updated" && p.part) record(p.part)
}

function report(event) {
  const session = event.properties?.sessionID ?? event.properties?.info?.id ?? ""
  switch (event.type) {
    case "permission.asked":
    case "permission.replied":
    case "question.asked":
    case "question.replied":
    case "question.rejected":
      return tell(event.type, event)
  }
  if (subagents.has(session)) return
  switch (event.type) {
    case "session.created":
      return tell(event.type, event)
    case "session.error": {
      const error = event.properties?.error ?? {}
      if (error.name !== "MessageAbortedError") {
        failure = `${error.name}: ${error.data?.message ?? ""}`
        write("error", {}, { name: error.name, data: { message: error.data?.message ?? "" } })
      }
      return
    }
    case "session.status": {
      const status = JSON.stringify(event.properties.status)
      if (status === last) return
      last = status
      if (event.properties.status?.type === "idle") return
      failure = ""
      return tell(event.type, event)
    }
    case "session.idle":
      return tell(event.type, { ...event, ...account(session), failure })
  }
}

export const Orange = async ({ client }) => {
  if (orange.resume) {
    setTimeout(() => {
      const text = readFileSync(orange.promptFile, "utf8")
      client.session.promptAsync({ path: { id: orange.resume }, body: { parts: [{ type: "text", text }] } })
    }, 0)
  }
  return {
    event: async ({ event }) => {
      note(event)
      report(event)
    },
    "chat.message": async (input, output) => {
      if (subagents.has(input.sessionID)) return
      for (const part of output?.parts ?? []) {
        if (part.type === "text" && !part.synthetic) write("user", { id: part.id, text: part.text })
      }
      tell("chat.message", { properties: { sessionID: input.sessionID } })
    },
  }
}
