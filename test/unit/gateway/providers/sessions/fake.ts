import type { Conversation } from "../../../../../src/core/conversation/conversation.ts";
import type { UpstreamTurn } from "../../../../../src/gateway/providers/answers/upstream-turn.ts";
import type { PrepareOptions } from "../../../../../src/gateway/providers/provider.ts";
import { sessionsDriver } from "../../../../../src/gateway/providers/sessions/driver.ts";
import { eventStream, FakeUpstream, neverAborted, prepareOptions, type Seen } from "../support.ts";

export const ANSWER =
  'event: start\ndata: {"message_id":"m1"}\n\nevent: text\ndata: {"text":"Hi"}\n\nevent: finish\ndata: {"reason":"stop"}\n\n';

export const slept: number[] = [];

export function provider() {
  let made = 0;
  slept.length = 0;
  return sessionsDriver.create({
    baseUrl: "https://provider.example/base/",
    token: "none",
    models: {},
    toolCalls: "native",
    wholeAnswers: true,
    newId: () => `made${++made}`,
    sleep: async (milliseconds) => {
      slept.push(milliseconds);
    },
  });
}

export const json = (body: unknown, status = 200): Response => Response.json(body, { status });

/** A provider that does what the protocol says; `changes` answer some paths differently. */
export function upstream(
  changes: Record<string, (request: Seen) => Response | Promise<Response>> = {},
): FakeUpstream {
  let files = 0;
  return new FakeUpstream((request) => {
    const path = new URL(request.url).pathname;
    for (const [end, respond] of Object.entries(changes)) if (path.endsWith(end)) return respond(request);
    if (path.endsWith("/api/sessions")) return json({ id: "s/1" });
    if (path.endsWith("/turns") || path.endsWith("/continue")) return eventStream(ANSWER);
    if (path.endsWith("/api/files")) {
      files += 1;
      return json({
        id: `file${files}`,
        bytes: 1,
        filename: "x",
        purpose: "user_data",
        status: "processed",
        created_at: 5,
      });
    }
    return json({}, 404);
  });
}

export function open(
  fake: FakeUpstream,
  what: Conversation,
  options: Partial<PrepareOptions> = {},
  signal = neverAborted(),
): Promise<UpstreamTurn> {
  return provider().prepare(what, prepareOptions(options)).open(fake.account, signal, null);
}

export { readTurn as readAll } from "../support.ts";
