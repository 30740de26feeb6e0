import { SandboxProvider } from "../../../sandbox/provider.ts";

/** One event of a stream. */
export interface SandboxEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What came of a turn. */
export interface Outcome {
  readonly status: number;
  /** The text of the whole body; of a broken stream, what came before the break. */
  readonly raw: string;
  readonly broken: boolean;
  readonly events: readonly SandboxEvent[];
  readonly text: string;
  readonly reasoning: string;
  readonly finish: unknown;
  readonly messageId: string;
}

/** A client of the sandbox for its tests: one account, one session at a time. */
export class SandboxClient {
  readonly provider: SandboxProvider;
  token: string;
  session = "";

  constructor(token = "sandbox-token-test", provider = new SandboxProvider()) {
    this.token = token;
    this.provider = provider;
  }

  /** Sends a request; a body that is no FormData is sent as JSON. */
  async send(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = new Headers({ authorization: `Bearer ${this.token}` });
    const form = body instanceof FormData;
    if (body !== undefined && !form) headers.set("content-type", "application/json");
    const payload = form ? body : body === undefined ? null : JSON.stringify(body);
    return this.provider.fetch(new Request(`http://sandbox${path}`, { method, headers, body: payload }));
  }

  async json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    return { ...Object(await (await this.send(method, path, body)).json()) };
  }

  async openSession(): Promise<void> {
    this.session = String((await this.json("POST", "/api/sessions"))["id"]);
  }

  /** Sends a turn in the open session, or in a new one. */
  async turn(prompt: string, fields: Record<string, unknown> = {}): Promise<Outcome> {
    if (this.session === "") await this.openSession();
    const body = { ...plainTurn, prompt, ...fields };
    return read(await this.send("POST", `/api/sessions/${this.session}/turns`, body));
  }

  async continue(messageId: string): Promise<Outcome> {
    return read(await this.send("POST", `/api/sessions/${this.session}/turns/${messageId}/continue`));
  }
}

/** The fields of a turn but its prompt. */
export const plainTurn = {
  parent_message_id: null,
  model: "flash",
  file_ids: [],
  thinking: false,
  search: false,
};

async function read(response: Response): Promise<Outcome> {
  const decoder = new TextDecoder();
  let raw = "";
  let broken = false;
  try {
    for await (const chunk of response.body ?? []) raw += decoder.decode(chunk, { stream: true });
  } catch {
    broken = true;
  }
  const streamed = response.headers.get("content-type") === "text/event-stream";
  const events = streamed ? parseEvents(raw) : [];
  const join = (name: string): string =>
    events.map(({ event, data }) => (event === name ? String(data["text"]) : "")).join("");
  return {
    status: response.status,
    raw,
    broken,
    events,
    text: join("text"),
    reasoning: join("reasoning"),
    finish: events.find(({ event }) => event === "finish")?.data["reason"],
    messageId: String(events.find(({ event }) => event === "start")?.data["message_id"]),
  };
}

function parseEvents(raw: string): SandboxEvent[] {
  const blocks = raw.replaceAll("\r\n", "\n").split("\n\n");
  return blocks.flatMap((block) => {
    const lines = block.split("\n");
    const field = (name: string): string =>
      lines
        .filter((line) => line.startsWith(`${name}: `))
        .map((line) => line.slice(name.length + 2))
        .join("\n");
    try {
      return [{ event: field("event"), data: { ...Object(JSON.parse(field("data"))) } }];
    } catch {
      return [];
    }
  });
}
