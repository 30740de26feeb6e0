import { isObject } from "../../src/core/encoding/json.ts";

/** Words that tests use as credentials but that also occur in harmless texts. */
const COMMON = new Set(["authorization", "password", "undefined", "provider", "no-such-token"]);
/** Shorter secrets would match everywhere. */
const MIN_SECRET = 8;
/** The development key is short, but no other text contains it. */
const ALWAYS = ["sk-dev"];
/** Secrets that programs generate: tokens of the mock provider, hashes of passwords. */
const MADE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a token of the stand-in provider", /sandbox\.[0-9a-f]{8,}\.\d+\.\d+/],
  ["the hash of a password", /pbkdf2-sha256\$\d/],
];

const SECRET_HEADERS = ["authorization", "x-api-key", "x-goog-api-key", "x-vendorc-api-key"];
const SECRET_PARAMETERS = ["key", "api_key"];
const SECRET_MEMBER =
  /^(?:password|new_password|admin_key|token|vercel_token|key|api_key|keys|jwt_secret|secret|headers)$/;

/** Endpoints that return secrets to administrators on purpose. */
const HANDS_OUT = /^(?:GET \/admin\/(?:config\/)?export|POST \/admin\/login)/;

/**
 * Remembers every credential that a test sends to a gateway (in headers, queries, bodies of the admin API and variables),
 * and searches all responses and logs for them. Searches for each secret in plain, JSON-escaped, URL-encoded and base64
 * form.
 */
export class SecretWatch {
  readonly #forms = new Map<string, string>();
  readonly #leaks = new Set<string>();

  /** `vars`: environment variables of the deployment; `secrets`: further secrets that must not leave it. */
  constructor(vars: Readonly<Record<string, string>>, secrets: readonly string[] = []) {
    for (const secret of secrets) this.#plant(secret, secret);
    for (const secret of ALWAYS) this.#remember(secret, secret);
    for (const [name, value] of Object.entries(vars)) {
      if (/KEY|TOKEN|PASSWORD/.test(name)) this.#plant(name, value);
      if (name === "GATEWAY_CONFIG_JSON") this.#collect(json(value), "");
    }
  }

  /** Places where secrets occurred, without duplicates; `lines` are the log lines. */
  leaksWith(lines: readonly string[]): readonly string[] {
    this.#search("the log", lines.join("\n"));
    return [...this.#leaks];
  }

  /** Remembers the credentials of a request. */
  sent(url: URL, init: RequestInit = {}): void {
    const headers = new Headers(init.headers);
    for (const name of SECRET_HEADERS) {
      this.#plant(`${name} of a request`, headers.get(name)?.replace(/^\S+\s+/, "") ?? "");
    }
    for (const name of SECRET_PARAMETERS) this.#plant(`?${name}=`, url.searchParams.get(name) ?? "");
    if (url.pathname.startsWith("/admin/") && typeof init.body === "string") {
      this.#collect(json(init.body), "");
    }
  }

  /** Checks a response; a stream is checked while it is read. Returns the response for the test to read. */
  async answered(method: string, url: URL, response: Response): Promise<Response> {
    const where = `${method} ${url.pathname} (${response.status})`;
    const mediaType = response.headers.get("content-type") ?? "";
    if (HANDS_OUT.test(`${method} ${url.pathname}${url.search}`)) {
      await this.#learn(response);
      return response;
    }
    this.#search(`the headers of ${where}`, JSON.stringify([...response.headers]));
    if (response.body === null || !/json|text|javascript|xml/.test(mediaType)) return response;
    if (/event-stream|ndjson/.test(mediaType)) return this.#watched(where, response, response.body);
    // The reader of the response gets the error if it breaks off.
    this.#search(
      where,
      await response
        .clone()
        .text()
        .catch(() => ""),
    );
    return response;
  }

  #plant(what: string, secret: string): void {
    if (secret.length < MIN_SECRET || COMMON.has(secret) || secret.includes("****")) return;
    this.#remember(what, secret);
  }

  #remember(what: string, secret: string): void {
    const base64 = Buffer.from(secret)
      .toString("base64")
      .replace(/.{0,3}=+$/, "");
    const escaped = JSON.stringify(secret).slice(1, -1);
    for (const form of [secret, escaped, encodeURIComponent(secret.toWellFormed())])
      this.#forms.set(form, what);
    if (base64.length >= MIN_SECRET) this.#forms.set(base64, `${what} (base64)`);
  }

  /** Remembers all texts below `value` whose member name denotes a secret. */
  #collect(value: unknown, name: string): void {
    if (typeof value === "string") {
      if (SECRET_MEMBER.test(name)) this.#plant(`${name} in a body`, value);
    } else if (Array.isArray(value)) {
      for (const member of value) this.#collect(member, name);
    } else if (isObject(value)) {
      // Headers of a provider may have any name.
      for (const [key, member] of Object.entries(value)) {
        this.#collect(member, name === "headers" ? name : key);
      }
    }
  }

  /** A token issued to an administrator counts as a secret from now on. */
  async #learn(response: Response): Promise<void> {
    const answer = json(await response.clone().text());
    if (isObject(answer) && typeof answer["token"] === "string")
      this.#plant("an administrator's token", answer["token"]);
  }

  #search(where: string, text: string): void {
    for (const [form, what] of this.#forms) if (text.includes(form)) this.#leaks.add(`${what} in ${where}`);
    for (const [what, pattern] of MADE) if (pattern.test(text)) this.#leaks.add(`${what} in ${where}`);
  }

  #watched(where: string, response: Response, body: ReadableStream<Uint8Array>): Response {
    const reader = body.getReader();
    const utf8 = new TextDecoder();
    let text = "";
    const search = () => this.#search(where, text);
    const watched = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (done) {
              search();
              controller.close();
              return;
            }
            text += utf8.decode(value, { stream: true });
            controller.enqueue(value);
          } catch (error) {
            search();
            controller.error(error);
          }
        },
        cancel: async (reason) => {
          search();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    const { status, statusText, headers } = response;
    return new Response(watched, { status, statusText, headers });
  }
}

/** Throws if there are leaks. */
export function expectNoLeaks(leaks: readonly string[]): void {
  if (leaks.length > 0) throw new Error(`The gateway told secrets:\n${leaks.join("\n")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
