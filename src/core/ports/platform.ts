import type { ConfigurationStore } from "../config/snapshot.ts";
import type { Variables } from "../variables/variables.ts";
import type { AccountStateStore } from "./account-states.ts";
import type { AccountPoolClient } from "./accounts.ts";
import type { AdministrationState } from "./administration.ts";
import type { AlertWatcher } from "./alerts.ts";
import type { Archive } from "./archive.ts";
import type { AuditLog } from "./audit-log.ts";
import type { BatchStore } from "./batches.ts";
import type { FileStore } from "./files.ts";
import type { OutcomeStore } from "./outcome-store.ts";
import type { AnswerCache, PagesPlatform } from "./pages.ts";
import type { ReplayStore } from "./replays.ts";
import type { ResponseStore } from "./responses.ts";
import type { UploadStore } from "./uploads.ts";
import type { Fetch, OutboundProxy } from "./upstream.ts";
import type { UsageStore } from "./usage.ts";
import type { OpenWebSocket, UpgradeToWebSocket } from "./web-socket.ts";

/**
 * The runtime's services. All code outside `src/core/ports/` and the entry files depends only on this interface, so that
 * plain tests can run it.
 */
export interface Platform {
  readonly variables: Variables;
  readonly configuration: ConfigurationStore;
  /** Where the editable configuration is stored, shown to administrators. */
  readonly configPath: string;
  readonly accounts: AccountPoolClient;
  /** History, captures, samples and metrics. */
  readonly archive: Archive;
  /** Usage by key, model and account. */
  readonly usage: UsageStore;
  /** Present if history and usage are in this process: it stores the outcome of each request before its answer ends. */
  readonly outcomes?: OutcomeStore;
  readonly administration: AdministrationState;
  /** The audit log of administrators' changes, with earlier configurations. */
  readonly auditLog: AuditLog;
  readonly alerts: AlertWatcher;
  /**
   * The stored responses of one caller. What a request stores that began before an erasure is dropped.
   *
   * @param owner hash of the caller's credential
   * @param startedAt when the request began that uses them, Unix milliseconds
   */
  responses(owner: string, startedAt: number): ResponseStore;
  /** Deletes everything that is stored for one caller; `owner` as above. Returns the number of deleted objects. */
  eraseCaller(owner: string): Promise<number>;
  /** The uploaded files of one caller; parameters as above. */
  files(owner: string, startedAt: number): FileStore;
  /** The batches of one caller; parameters as above. */
  batches(owner: string, startedAt: number): BatchStore;
  /** What lives at providers' accounts for one caller; parameters as above. */
  accountStates(owner: string, startedAt: number): AccountStateStore;
  /** The unfinished uploads of one caller; parameters as above. */
  uploads(owner: string, startedAt: number): UploadStore;
  /** The idempotency keys of one caller; parameters as above. */
  replays(owner: string, startedAt: number): ReplayStore;
  /** The response cache: answers to generations. */
  readonly responseCache: AnswerCache;
  /** Plain outbound HTTP for addresses from callers; the caller of `fetch` has checked the URL. */
  readonly fetch: Fetch;
  /** Outbound HTTP for addresses from the deployment's own settings, which may be private. */
  readonly deploymentFetch: Fetch;
  /** Returns a fetch function for the upstream, through a proxy if given. */
  upstreamFetch(proxy: OutboundProxy | null): Fetch;
  /**
   * Whether TLS inside a proxy's tunnel sends the server name (SNI). Without it an `https` provider may be unreachable
   * through a proxy.
   */
  readonly supportsSniThroughProxy: boolean;
  /** The base address under which `upstreamFetch` reaches the provider; null if none is configured. */
  readonly providerBaseUrl: string | null;
  /** Whether the accounts of the default provider sign in. */
  readonly providerSignsIn: boolean;
  /** Upgrades a request to a WebSocket. */
  readonly upgradeToWebSocket: UpgradeToWebSocket;
  /** Aborted when the process is to end, so that connections without an end of their own close. Absent: nothing says so. */
  readonly closing?: AbortSignal;
  /** Opens a WebSocket to a provider, without a proxy. */
  readonly openWebSocket: OpenWebSocket;
  readonly pages: PagesPlatform;
  /** A file of the admin console, or null if the path has none. */
  fetchAsset(request: Request): Promise<Response | null>;
  /** Current time in milliseconds since the epoch. */
  now(): number;
}
