import type { ConfigurationStore } from "../config/snapshot.ts";
import type { AccountPoolClient } from "./accounts.ts";
import type { AdministrationState } from "./administration.ts";
import type { AlertWatcher } from "./alerts.ts";
import type { AnswerStore } from "./answers.ts";
import type { Archive } from "./archive.ts";
import type { FileStore } from "./files.ts";
import type { Journal } from "./journal.ts";
import type { PagesPlatform } from "./pages.ts";
import type { ResponseStore } from "./responses.ts";
import type { UploadStore } from "./uploads.ts";
import type { Fetch, OutboundProxy } from "./upstream.ts";
import type { UsageStore } from "./usage.ts";
import type { Variables } from "./variables.ts";
import type { Upgrade } from "./web-socket.ts";

/**
 * What the program needs from its runtime. Everything outside `src/platform/` and the entry files is written against
 * this, and runs in a plain test.
 */
export interface Platform {
  readonly variables: Variables;
  readonly configuration: ConfigurationStore;
  /** Where an editable configuration is kept, as administrators are told. */
  readonly configPath: string;
  readonly accounts: AccountPoolClient;
  /** History, captures, samples and metrics. */
  readonly archive: Archive;
  /** What was used by whom. */
  readonly usage: UsageStore;
  /** Present where history and usage are in this process: they take the outcome of each request before its answer ends. */
  readonly answers?: AnswerStore;
  readonly administration: AdministrationState;
  /** What administrators did, and configurations of before. */
  readonly journal: Journal;
  readonly alerts: AlertWatcher;
  /** The stored responses of one caller; `owner` is the hash of the caller's credential. */
  responses(owner: string): ResponseStore;
  /** The uploaded files of one caller, likewise. */
  files(owner: string): FileStore;
  /** The unfinished uploads of one caller, likewise. */
  uploads(owner: string): UploadStore;
  /** Plain outbound HTTP, for what a caller named; the URL has been checked. */
  readonly fetch: Fetch;
  /** The same for addresses that the deployment itself named, which may be anywhere. */
  readonly deploymentFetch: Fetch;
  /** Speaks to the upstream, through a proxy if one is given. */
  upstream(proxy: OutboundProxy | null): Fetch;
  /**
   * Whether TLS that starts inside a proxy's tunnel names the server (SNI). Without the name an `https` provider may be
   * out of reach through a proxy.
   */
  readonly namesServerThroughProxy: boolean;
  /** The base address that `upstream` reaches the provider at; null: none is configured. */
  readonly providerBaseUrl: string | null;
  /** Whether the accounts of the default provider sign in. */
  readonly providerSignsIn: boolean;
  /** Turns a request into a WebSocket. */
  readonly upgrade: Upgrade;
  readonly pages: PagesPlatform;
  /** A file of the admin console, or null when there is none at that path. */
  asset(request: Request): Promise<Response | null>;
  /** Current time in milliseconds since the epoch. */
  now(): number;
}
