import { eventBlocks, type Plan, type Protocol } from "./fault-body.ts";
import type { Reply, Script, Step, UpstreamRequest } from "./scripted-upstream.ts";
import { wantsWhole, wholeAnswer } from "./whole-answers.ts";

/** Replies to generations: a list in order, whose last reply repeats, or a function. */
export type Turns = readonly Reply[] | Script;

/** Scripted replies of an upstream. */
export interface Answers {
  /** Replies to generations; default: healthy answers. */
  readonly turns?: Turns;
  /** Replies to other requests; undefined: the protocol's default. */
  readonly other?: (asked: UpstreamRequest) => Reply | undefined;
}

/** The events of a turn of the sessions protocol, one step each. */
export const events = (plan: Plan): string[] => eventBlocks("sessions", plan);

/** A turn with a text. */
export const says = (text: string, plan: Plan = {}): Reply => ({ body: events({ text, ...plan }) });

/** A turn with reasoning but without text. */
export const thinksOnly = (reasoning = "Hm."): Reply => says("", { reasoning });

/** A turn whose message continues in another stream. */
export const saysPart = (text: string): Reply => says(text, { finish: "incomplete" });

/** A turn that starts a text and then continues with the given steps. */
export const beginsThen = (text: string, ...rest: readonly Step[]): Reply => {
  const [start = "", first = ""] = events({ text, chunks: 1 });
  return { body: [start, first, ...rest] };
};

/** An error in the format of the sessions protocol. */
export const refuses = (status: number, code: string): Reply => ({
  status,
  json: { error: { code, message: `The upstream says ${code}.` } },
});

/** The same reply for a request without streaming. If the reply ends early, half of the answer is sent. */
export function inOnePiece(
  protocol: Exclude<Protocol, "sessions">,
  asked: UpstreamRequest,
  reply: Reply,
): Reply {
  if (typeof reply === "string" || !wantsWhole(asked.body, asked.path)) return reply;
  if ("late" in reply) return { ...reply, reply: inOnePiece(protocol, asked, reply.reply) };
  if ("json" in reply || reply.type !== undefined) return reply;
  const steps = [...reply.body];
  const blocks = steps.filter((step) => typeof step === "string" && step.includes("data:"));
  const pauses = steps.filter((step) => typeof step === "object" && "pause" in step);
  const end = steps.find((step) => step === "silence" || step === "reset");
  const whole = wholeAnswer(protocol, blocks.map(String));
  const body = end === undefined ? [whole] : [whole.slice(0, whole.length / 2), end];
  return { type: "application/json", body: [...pauses, ...body] };
}

/** Whether a request asks for a generation, in the sessions, chat-completions or responses protocol. */
export const isTurn = ({ method, path }: UpstreamRequest): boolean =>
  method === "POST" && /\/turns(\/[^/]+\/continue)?$|\/chat\/completions$|\/responses$/.test(path);

/** Returns the replies to generations one by one. */
function turnReplies(turns: Turns, healthy: Reply): Script {
  if (typeof turns === "function") return turns;
  let next = 0;
  return () => turns[Math.min(next++, turns.length - 1)] ?? healthy;
}

/** The account of a token that {@link sessionsScript} issued. */
export const accountOf = ({ token }: UpstreamRequest): string => token.replace(/#\d+$/, "");

/**
 * An upstream with the sessions protocol. Its tokens consist of the account and the number of the sign-in: `one@test#1`.
 */
export function sessionsScript({ turns = [], other }: Answers = {}): Script {
  const healthy = says("Hello from upstream.");
  const turnReply = turnReplies(turns, healthy);
  let signIns = 0;
  let sessions = 0;
  let files = 0;
  return (asked) => {
    const { method, path } = asked;
    const own = other?.(asked);
    if (own !== undefined) return own;
    if (isTurn(asked)) return turnReply(asked);
    if (path === "/api/login") {
      signIns += 1;
      return { json: { token: `${asked.json()["email"]}#${signIns}`, expires_at: 0 } };
    }
    if (path === "/api/account") return { json: { id: accountOf(asked), session_count: 0 } };
    if (path === "/api/sessions" && method === "POST") {
      sessions += 1;
      return { json: { id: `session-${sessions}` } };
    }
    if (path.startsWith("/api/sessions")) return { json: { deleted: 1 } };
    if (path === "/api/files") {
      files += 1;
      return { json: fileRecord(`file-${files}`) };
    }
    if (path.startsWith("/api/files/")) return { json: fileRecord(path.slice("/api/files/".length)) };
    return refuses(404, "not_found");
  };
}

/** An upstream with the chat-completions protocol. */
export const completionsScript = (answers: Answers = {}): Script => keyedScript("chat-completions", answers);

/** An upstream with the responses protocol. */
export const responsesScript = (answers: Answers = {}): Script => keyedScript("responses", answers);

function keyedScript(protocol: "chat-completions" | "responses", { turns = [], other }: Answers): Script {
  const turnReply = turnReplies(turns, { body: eventBlocks(protocol, {}) });
  return (asked) => {
    const own = other?.(asked);
    if (own !== undefined) return own;
    if (isTurn(asked)) return inOnePiece(protocol, asked, turnReply(asked));
    if (asked.path.endsWith("/models")) return { json: { object: "list", data: [{ id: "engine" }] } };
    return { status: 404, json: { error: { code: "not_found", message: "There is no such thing." } } };
  };
}

function fileRecord(id: string): object {
  const created_at = Math.floor(Date.now() / 1000);
  return { id, bytes: 5, filename: "a.txt", purpose: "assistants", status: "processed", created_at };
}
