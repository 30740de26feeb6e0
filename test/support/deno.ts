import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { cacheFolder, developmentVars, root } from "../../scripts/development.mjs";
import { fetchDescribed } from "./described.ts";
import { freePort } from "./free-port.ts";
import type { GatewayOptions } from "./gateway.ts";
import { liveHeap } from "./inspector.ts";
import type { SandboxControl } from "./sandbox.ts";
import { type SandboxServer, startSandbox } from "./sandbox-server.ts";
import { expectNoLeaks, SecretWatch } from "./secret-watch.ts";

const START_MS = 30_000;

/** Where Deno stores which lines have run (`npm run coverage:deno`); undefined: it does not count. */
const COVERAGE_FOLDER = process.env["DENO_COVERAGE_DIR"];

/** The gateway as a Deno process, with the sandbox in the test process. */
export class DenoGateway {
  readonly #options: GatewayOptions;
  readonly #sandbox: SandboxServer;
  readonly #watch: SecretWatch;
  #folder: string;
  #process: RunningDeno;

  private constructor(options: GatewayOptions, sandbox: SandboxServer, folder: string, process: RunningDeno) {
    this.#options = options;
    this.#watch = new SecretWatch({ ...developmentVars, ...options.vars }, options.secrets);
    this.#sandbox = sandbox;
    this.#folder = folder;
    this.#process = process;
  }

  static async start(options: GatewayOptions = {}): Promise<DenoGateway> {
    const sandbox = await startSandbox(options.sandboxVars);
    const folder = options.dataFolder ?? (await newFolder());
    return new DenoGateway(options, sandbox, folder, await RunningDeno.start(options, sandbox.url, folder));
  }

  /** URL without a trailing slash. It changes after a restart. */
  get url(): string {
    return this.#process.url;
  }

  /** Only workerd has Miniflare; tests that need it do not run on Deno. */
  get miniflare(): never {
    throw new Error("There is no Miniflare on Deno.");
  }

  /** The pool is part of the process and cannot be evicted separately. */
  evictPool(): Promise<void> {
    return Promise.reject(new Error("There is no object on Deno."));
  }

  /** Not possible on Deno either. */
  resizePools(): Promise<void> {
    return this.evictPool();
  }

  evict(): Promise<void> {
    return this.evictPool();
  }

  async poolRows(): Promise<number | null> {
    const [file] = (await readdir(this.#folder)).filter((name) => /\.(?:db|sqlite)$/.test(name));
    if (file === undefined) return null;
    const database = new DatabaseSync(join(this.#folder, file), { readOnly: true });
    const row = database
      .prepare("select (select count(*) from mark) + (select count(*) from isolate) n")
      .get();
    database.close();
    return Number(row?.["n"]);
  }

  /** Makes all writes of the gateway fail, as on a full disk. Returns a function that ends this. */
  lockStorage(): () => void {
    const database = new DatabaseSync(join(this.#folder, "polygate.db"));
    database.exec("begin immediate");
    return () => database.close();
  }

  async heap(): Promise<number> {
    const address = this.logs().flatMap((line) => /ws:\/\/\S+/.exec(line) ?? [])[0];
    if (address === undefined) throw new Error("The gateway was not started with `inspected`.");
    return liveHeap(address, async () => undefined);
  }

  processes(): readonly number[] {
    return [this.#process.pid];
  }

  get sandbox(): SandboxControl {
    return this.#sandbox.control;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetchDescribed(this.#watch, new URL(path, this.#process.url), init);
  }

  /** Lines that the process has written since its start. */
  logs(): readonly string[] {
    return this.#process.lines;
  }

  leaks(): readonly string[] {
    return this.#watch.leaksWith(this.#process.lines);
  }

  /** Peak memory of the process in bytes (Linux). */
  async peakMemory(): Promise<number> {
    const status = await readFile(`/proc/${this.#process.pid}/status`, "utf8");
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  /** Resets the peak that `peakMemory` returns (Linux). */
  async forgetPeak(): Promise<void> {
    await writeFile(`/proc/${this.#process.pid}/clear_refs`, "5");
  }

  /** Sends a signal and waits until the process ends. Returns its exit code; null if the signal ended it. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    return this.#process.end(signal);
  }

  /** Kills the process and starts it again on the same data. */
  async restart(): Promise<void> {
    await this.#process.end("SIGKILL");
    await this.startAgain();
  }

  /** Starts the gateway on the same data after its process has ended. */
  async startAgain(): Promise<void> {
    this.leaks();
    this.#process = await RunningDeno.start(this.#options, this.#sandbox.url, this.#folder);
  }

  /** Changes the database while the process is stopped. */
  async changeData(change: (database: DatabaseSync) => void): Promise<void> {
    const database = new DatabaseSync(join(this.#folder, "polygate.db"));
    try {
      change(database);
    } finally {
      database.close();
    }
  }

  /** Starts again with empty storage. */
  async reset(): Promise<void> {
    await this.#process.end("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
    this.#folder = await newFolder();
    await this.sandbox.reset();
    await this.startAgain();
  }

  async close(): Promise<void> {
    // A killed process stores no counts.
    await this.#process.end(COVERAGE_FOLDER === undefined ? "SIGKILL" : "SIGTERM");
    await this.#sandbox.close();
    if (this.#options.dataFolder === undefined) await rm(this.#folder, { recursive: true, force: true });
    expectNoLeaks(this.leaks());
  }
}

const PROGRAM = "src/deno.ts";
const COUNTED_ENTRY = "test/support/deno-counted.mjs";

function entryFor(options: GatewayOptions): string {
  if (options.standardSockets === true) return "test/support/deno-standard-sockets.mjs";
  return options.evictable === true ? "test/support/deno-clock.mjs" : PROGRAM;
}

const newFolder = () => mkdtemp(join(tmpdir(), "polygate-deno-"));

/** A running process. */
class RunningDeno {
  readonly url: string;
  readonly lines: string[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, lines: string[]) {
    this.#child = child;
    this.url = url;
    this.lines = lines;
  }

  static async start(options: GatewayOptions, provider: string, folder: string): Promise<RunningDeno> {
    const { PATH, HOME, NODE_EXTRA_CA_CERTS } = process.env;
    const entry = entryFor(options);
    const inspect = options.inspected === true ? [`--inspect=127.0.0.1:${await freePort()}`] : [];
    // Deno does not count what an inspector sees, and the entries that patch something are other ones.
    const isCounted = COVERAGE_FOLDER !== undefined && entry === PROGRAM && options.inspected !== true;
    const child = spawn(
      join(root, "node_modules", ".bin", "deno"),
      isCounted
        ? ["run", "-A", "--no-remote", `--coverage=${COVERAGE_FOLDER}`, COUNTED_ENTRY]
        : ["serve", "-A", "--no-remote", ...inspect, "--host", "127.0.0.1", "--port", "0", entry],
      {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH,
          HOME,
          NO_COLOR: "1",
          DENO_DIR: join(cacheFolder, "deno"),
          DENO_NO_UPDATE_CHECK: "1",
          ...(NODE_EXTRA_CA_CERTS === undefined ? {} : { DENO_CERT: NODE_EXTRA_CA_CERTS }),
          ...developmentVars,
          DATA_DIR: folder,
          // As in front of workerd, so that tests can use several client addresses.
          CLIENT_ADDRESS_HEADER: "cf-connecting-ip",
          PROVIDER_BASE_URL: provider,
          ...(options.clockAt === undefined
            ? {}
            : { TEST_CLOCK_OFFSET: String(options.clockAt - Date.now()) }),
          ...options.vars,
        },
      },
    );
    const lines: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const fail = () => reject(new Error(`Deno did not start: ${lines.slice(-20).join("\n")}`));
      const timer = setTimeout(fail, START_MS);
      child.once("exit", fail);
      for (const stream of [child.stdout, child.stderr]) {
        readLines(stream, (line) => {
          lines.push(line);
          const found = /Listening on (http:\S+?)\/?$/.exec(line)?.[1];
          if (found === undefined) return;
          clearTimeout(timer);
          child.off("exit", fail);
          resolve(found);
        });
      }
    }).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
    return new RunningDeno(child, url, lines);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  }
}

function readLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
