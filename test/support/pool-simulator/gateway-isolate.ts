import { ConfigurationClient } from "../../../src/core/config/configuration-client.ts";
import type { ConfigSnapshot } from "../../../src/core/config/snapshot.ts";
import type { Platform } from "../../../src/core/ports/platform.ts";
import { MemoryGateway } from "../memory-gateway.ts";
import { KEY } from "../memory-platform.ts";

/** Reads the newest configuration as an isolate does; null: `known` is the newest version. */
export type ReadConfiguration = (known: number) => Promise<ConfigSnapshot | null>;

/** Reads the configuration of `main` without delay. */
export const readFrom =
  (main: MemoryGateway): ReadConfiguration =>
  async (known) => {
    const newest = await main.platform.configuration.readFresh();
    return newest.version === known ? null : newest;
  };

/** What a test asks for; by default a short chat completion of the isolate's model. */
export interface AskOptions {
  readonly model?: string;
  readonly path?: string;
  readonly text?: string;
}

/** An isolate of a deployment: the whole gateway, with a copy of the configuration of its own. */
export class GatewayIsolate {
  readonly gateway: MemoryGateway;
  /** How often it has asked for the configuration. */
  configurationReads = 0;
  /** The model of questions that name none. */
  readonly model: string = "gpt-4o";

  /**
   * @param main shares its configuration, provider and stores with the isolate
   * @param getOwn what the isolate does not share
   */
  constructor(
    main: MemoryGateway,
    read: ReadConfiguration,
    getOwn: (
      configuration: ConfigurationClient,
      waitUntil: (work: Promise<unknown>) => void,
    ) => Partial<Platform>,
  ) {
    const configuration = new ConfigurationClient(
      {
        newerThan: async (known) => {
          this.configurationReads += 1;
          return read(known);
        },
        replace: () => Promise.reject(new Error("edits are made elsewhere")),
      },
      Date.now,
    );
    const own = getOwn(configuration, (work) => this.gateway.waitUntil(work));
    this.gateway = new MemoryGateway({ ...main.platform, configuration, ...own }, main.upstream, main.lines);
  }

  /** Asks a question. Returns the status of the answer, and its error's code. */
  async ask(key = KEY, question: AskOptions = {}): Promise<string> {
    const { model = this.model, path = "/v1/chat/completions", text = "Hi" } = question;
    const body = { model, messages: [{ role: "user", content: text }] };
    const headers = { authorization: `Bearer ${key}` };
    const response = await this.gateway.post(path, body, { headers });
    const answer: { error?: { code: string } } = await response.json();
    return `${response.status}${answer.error === undefined ? "" : ` ${answer.error.code}`}`;
  }
}
