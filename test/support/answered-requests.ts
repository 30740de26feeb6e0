/** Token counts, as stated by an answer or by usage. */
export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

/** A request whose answer arrived completely at the client. */
export interface AnsweredRequest {
  /** Unique name of the request: its `X-Gateway-Source` header, or its message. */
  readonly name: string;
  /** Id of its key. */
  readonly key: string;
  readonly succeeded: boolean;
  /** Tokens that the answer states; 0 if the request failed. */
  readonly tokens: Tokens;
  /** Whether history contains the request. History contains only generations. */
  readonly inHistory: boolean;
}

/** Request and response format of one API style. */
interface Style {
  readonly path: (stream: boolean) => string;
  readonly body: (stream: boolean, text: string) => object;
  /** Matches only the end of a stream. */
  readonly end: RegExp;
  /** Match the stated token counts; the last match wins. */
  readonly prompt: RegExp;
  readonly completion: RegExp;
}

/** A model without thinking, so that all styles state the same token counts. */
const MODEL = "provider-v4-flash-nothinking";

const messages = (text: string) => [{ role: "user", content: text }];
const OPENAI = {
  end: /data: \[DONE\]/,
  prompt: /"prompt_tokens":(\d+)/g,
  completion: /"completion_tokens":(\d+)/g,
};
const INPUT_OUTPUT = { prompt: /"input_tokens":(\d+)/g, completion: /"output_tokens":(\d+)/g };
const usageOf = (stream: boolean) => (stream ? { stream_options: { include_usage: true } } : {});

export const STYLES = {
  "chat-completions": {
    ...OPENAI,
    path: () => "/v1/chat/completions",
    body: (stream, text) => ({ model: MODEL, stream, ...usageOf(stream), messages: messages(text) }),
  },
  completions: {
    ...OPENAI,
    path: () => "/v1/completions",
    body: (stream, text) => ({ model: MODEL, stream, ...usageOf(stream), prompt: text }),
  },
  messages: {
    ...INPUT_OUTPUT,
    end: /event: message_stop/,
    path: () => "/v1/messages",
    body: (stream, text) => ({ model: MODEL, stream, max_tokens: 1_000, messages: messages(text) }),
  },
  responses: {
    ...INPUT_OUTPUT,
    end: /event: response\.(?:completed|failed)/,
    path: () => "/v1/responses",
    body: (stream, text) => ({ model: MODEL, stream, input: text }),
  },
  "content-generation": {
    end: /"finishReason"/,
    prompt: /"promptTokenCount":(\d+)/g,
    completion: /"candidatesTokenCount":(\d+)/g,
    path: (stream) =>
      `/v1beta/models/${MODEL}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (_, text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
  },
  "model-runner": {
    end: /"done":true/,
    prompt: /"prompt_eval_count":(\d+)/g,
    completion: /"eval_count":(\d+)/g,
    path: () => "/api/chat",
    body: (stream, text) => ({ model: MODEL, stream, messages: messages(text) }),
  },
} as const satisfies Record<string, Style>;

export type StyleName = keyof typeof STYLES;

/** Returns the token counts that an answer states. */
export function statedTokens(name: StyleName, answer: string): Tokens {
  const style: Style = STYLES[name];
  const last = (pattern: RegExp) => Number([...answer.matchAll(pattern)].at(-1)?.[1] ?? 0);
  return { prompt: last(style.prompt), completion: last(style.completion) };
}

/** Matches only failed answers, in every style. */
const FAILED = /"error":\s*["{]/;

/** A request and its sender. */
export interface ClientRequest {
  readonly source: string;
  readonly key: { readonly key: string; readonly id: string };
  readonly style: StyleName;
  readonly stream: boolean;
  /** The user's message; default: "hello". */
  readonly text?: string;
}

/**
 * Sends a request. Resolves when the end of the answer has arrived (for a stream: its last event, before the connection
 * closes). Rejects if the answer breaks off.
 */
export async function askToEnd(url: string, question: ClientRequest): Promise<AnsweredRequest> {
  const { source, key, style: name, stream, text = "hello" } = question;
  const style: Style = STYLES[name];
  const response = await fetch(url + style.path(stream), {
    method: "POST",
    headers: {
      authorization: `Bearer ${key.key}`,
      "content-type": "application/json",
      "x-gateway-source": source,
    },
    body: JSON.stringify(style.body(stream, text)),
  });
  const isStream = stream && response.ok;
  let answer = "";
  let ended = !isStream;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    answer += decoder.decode(bytes, { stream: true });
    ended = !isStream || style.end.test(answer) || FAILED.test(answer);
    if (ended && isStream) break;
  }
  if (!ended) throw new Error(`${source} broke off: ${answer.slice(-300)}`);
  const succeeded = response.ok && !FAILED.test(answer);
  const tokens = succeeded ? statedTokens(name, answer) : { prompt: 0, completion: 0 };
  return { name: source, key: key.id, succeeded, tokens, inHistory: true };
}

/** What history and usage contain, compared with the answered requests. */
export interface RecordComparison {
  /** Names of requests without an outcome in history. */
  readonly missing: readonly string[];
  readonly answered: Readonly<Record<string, KeySums>>;
  readonly counted: Readonly<Record<string, KeySums>>;
}

/** Number of requests of a key, and the tokens of the successful ones. */
export interface KeySums extends Tokens {
  readonly requests: number;
}

/**
 * Compares history and usage with the answers that clients received. `admin` calls the admin API. If nothing was lost,
 * `missing` is empty and `counted` equals `answered`, unless requests of the same keys ended without an answer to a client.
 */
export async function compareWithRecords(
  admin: (path: string) => Promise<Response>,
  requests: readonly AnsweredRequest[],
): Promise<RecordComparison> {
  const exported = await (await admin("/admin/chat-history/export?format=ndjson")).text();
  const ended = new Set<string>();
  for (const line of exported.split("\n").filter((text) => text !== "")) {
    const record: Record<"source" | "request_preview" | "status" | "error", string> = JSON.parse(line);
    const { source, request_preview: message, status, error } = record;
    if (status !== "streaming" && !/interrupted/.test(error)) ended.add(source).add(message);
  }
  const usage: { items: (Record<string, number> & { key: string; outcome: string })[] } = await (
    await admin("/admin/usage?granularity=total&group_by=key,outcome&limit=10000")
  ).json();
  const answered: Record<string, KeySums> = {};
  const counted: Record<string, KeySums> = {};
  for (const { key, tokens } of requests) add(answered, key, 1, tokens);
  for (const { key, outcome, requests: count = 0, prompt_tokens = 0, completion_tokens = 0 } of usage.items) {
    if (answered[key] === undefined) continue;
    const succeeded = outcome === "success";
    add(counted, key, count, {
      prompt: succeeded ? prompt_tokens : 0,
      completion: succeeded ? completion_tokens : 0,
    });
  }
  const missing = requests.filter(({ name, inHistory }) => inHistory && !ended.has(name));
  return { missing: missing.map(({ name }) => name), answered, counted };
}

function add(
  sums: Record<string, KeySums>,
  key: string,
  requests: number,
  { prompt, completion }: Tokens,
): void {
  const known = sums[key] ?? { requests: 0, prompt: 0, completion: 0 };
  sums[key] = {
    requests: known.requests + requests,
    prompt: known.prompt + prompt,
    completion: known.completion + completion,
  };
}
