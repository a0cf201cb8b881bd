import { spawnSync } from "node:child_process"

// Tells Orange what a session of pi is doing, and keeps a reviewer from posting. The
// constant orange, which is put in front of this file, says how.

export default function (pi) {
  const usage = { input: 0, output: 0, cache: 0, cost: 0 }

  function tell(event, ctx, more) {
    if (!orange.hook.length) return
    const [program, ...args] = orange.hook
    const session = ctx.sessionManager?.getSessionId?.() ?? ""
    const transcript = ctx.sessionManager?.getSessionFile?.() ?? ""
    spawnSync(program, [...args, event], {
      input: JSON.stringify({ session_id: session, transcript_path: transcript, ...more }),
      stdio: ["pipe", "ignore", "ignore"],
      timeout: 10000,
    })
  }

  for (const event of ["session_start", "input", "agent_start", "session_shutdown"]) {
    pi.on(event, async (_, ctx) => tell(event, ctx))
  }

  pi.on("agent_end", async (event, ctx) => {
    const said = (event.messages ?? []).filter((m) => m.role === "assistant")
    let final = ""
    for (const m of said) {
      usage.input += m.usage?.input ?? 0
      usage.output += m.usage?.output ?? 0
      usage.cache += (m.usage?.cacheRead ?? 0) + (m.usage?.cacheWrite ?? 0)
      usage.cost += m.usage?.cost?.total ?? 0
      const text = (m.content ?? []).filter((c) => c.type === "text").map((c) => c.text).join("\n")
      if (text) final = text
    }
    tell("agent_end", ctx, { final, usage, error: said.at(-1)?.errorMessage ?? "" })
  })

  pi.on("tool_call", async (event) => {
    const command = String(event.input?.command ?? "").replace(/\s+/g, " ")
    const posts = orange.posts.some((p) => command.split(/&&|\|\||[;|(]/).some((part) => part.trim().startsWith(p)))
    if (posts) return { block: true, reason: orange.refusal }
  })
}
