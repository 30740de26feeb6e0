import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests share a small machine with browsers and runtimes that are started beside them: in CI a hiccup of it has a second try. */
const retry = process.env["CI"] === undefined ? 0 : 1;

/** How long is waited for what browsers and processes do: the one second that is usual is not enough for a busy machine. */
const PATIENT = { expect: { poll: { timeout: 10_000 } } } as const;

/**
 * Node loads the files by itself, which takes an eighth less processor time than Vite's loader. It cannot replace modules
 * (`vi.mock`).
 */
const NATIVE = { environment: "node", experimental: { viteModuleRunner: false } } as const;

/** Objects inside workerd share one process: another one takes two seconds of a core. Lint and types keep the other core busy meanwhile. */
const IN_WORKERD = { isolate: false, maxWorkers: 1, sequence: { groupOrder: 0 } } as const;

/** Pure rules keep the cores busy by themselves, and each worker loads the program again, which takes seconds. */
const BUSY = { maxWorkers: availableParallelism() + 1, sequence: { groupOrder: 1 } } as const;

/**
 * Most other tests wait for a process of their own: with as many workers as cores, two cores are idle for half of the time, with three
 * times as many for 7 %. With more, a slow machine is never idle, and browsers that share it run into the time limits of pages.
 */
const WAITING = { maxWorkers: 3 * availableParallelism(), sequence: { groupOrder: 2 } } as const;

/**
 * What starts a gateway for each file. All files of a worker share one process: what they load (the runtime's tools, SDKs, schemas)
 * takes seconds. The certificates of the tests' own servers are read when the tools are loaded.
 */
const BLACK_BOX = {
  ...WAITING,
  ...PATIENT,
  ...NATIVE,
  isolate: false,
  retry,
  // Against tests that hang. The longest take 20 seconds on a machine that is slow and busy.
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;
const TEST_CERTIFICATES = { NODE_EXTRA_CA_CERTS: `${import.meta.dirname}/test/support/fixtures/tls/ca.pem` };

/**
 * Files that mostly wait, the longest first. They are spread over a project's run: if all workers wait at once, the cores
 * are idle.
 */
const WAITING_FILES = [
  "native-streams faults console-heights realtime page-load moment usage-details browser dialects-agree capture campaign",
  "pages-secrets failing-pages erasure history console-health idempotency attachment-memory file-faults page-delivery",
  "proxies call-prices restart administrators request-controls",
].flatMap((names) => names.split(" "));

/** Files that compute longest: if one begins last, the machine waits for it. */
const LONG_FILES = new Set(
  "abort-sweep affinity client-memory documents failures message-backends package proxied-fetch start thumbnails".split(
    " ",
  ),
);

const nameOf = ({ moduleId }: TestSpecification) => basename(moduleId).replace(/(\.browser)?\.test\.ts$/, "");
const waitingRank = (file: TestSpecification) => WAITING_FILES.indexOf(nameOf(file));
const isLong = (file: TestSpecification) =>
  LONG_FILES.has(nameOf(file)) || /\/(?:console|pages)[\w-]*\.test|\.browser\.test/.test(file.moduleId);

/** Of one project: long files first, and the waiting ones evenly between the first four fifths of the others. */
function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const sorted = files
    .filter((file) => waitingRank(file) === -1)
    .toSorted((one, other) => Number(isLong(other)) - Number(isLong(one)));
  const waiting = files
    .filter((file) => waitingRank(file) !== -1)
    .toSorted((one, other) => waitingRank(one) - waitingRank(other));
  const between = (0.8 * sorted.length) / waiting.length;
  for (const [index, file] of waiting.entries()) sorted.splice(Math.floor(index * (between + 1)), 0, file);
  return sorted;
}

/** Runs the tests on Deno before those on Workers, and never many waiting files at once. */
class EvenLoad extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const rank = (name: string) => ["deno", "integration"].indexOf(name);
    return [...projects]
      .toSorted(([one], [other]) => rank(one) - rank(other))
      .flatMap(([, ofProject]) => spread(ofProject));
  }
}

/** What measures processor time, as a ratio: `npm run growth`, outside of `npm test`. */
const GROWTH = ["test/unit/growth/**/*.test.ts", "test/unit/support/growth.test.ts"];

/** The page service's own code in Node, with a real browser. */
const PAGES = "test/unit/**/*.browser.test.ts";

/**
 * Five projects: pure rules in Node (`unit`), how their work grows (`growth`), Durable Objects inside workerd (`workers`), the built bundle over real HTTP
 * with real SDKs and browsers (`integration`), and what of that holds on every runtime once more on Deno (`deno`).
 */
export default defineConfig({
  test: {
    globalSetup: "test/support/memory-folder.ts",
    sequence: { sequencer: EvenLoad },
    // Of the tests in Node (`npm run coverage`). `npm run coverage:deno` counts what black-box tests run on Deno, too.
    coverage: {
      provider: "v8",
      reporter: ["text-summary", "html"],
      include: ["src/**/*.ts"],
      exclude: ["src/operator/console/**", "src/runtime/{cloudflare,deno}/**", "src/{deno,worker}.ts"],
    },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          exclude: [...GROWTH, PAGES],
          ...BUSY,
          ...NATIVE,
          // Pure rules leave nothing behind; a process for each file would cost more than a third of their time.
          isolate: false,
          // For a machine that does much else: none takes more than a few seconds.
          testTimeout: 30_000,
          // A file builds the Worker before its tests.
          hookTimeout: 60_000,
          retry,
          setupFiles: ["test/support/properties.ts"],
        },
      },
      {
        test: {
          name: "growth",
          include: GROWTH,
          ...BUSY,
          ...NATIVE,
          // In a process of their own: what other files leave to be collected would be measured with them.
          isolate: true,
          retry,
          testTimeout: 30_000,
          setupFiles: ["test/support/properties.ts"],
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/{contract,integration,e2e}/**/*.test.ts", PAGES],
          env: TEST_CERTIFICATES,
          ...BLACK_BOX,
        },
      },
      {
        test: {
          name: "deno",
          include: [
            "test/deno/**/*.test.ts",
            "test/contract/**/*.test.ts",
            "test/integration/{abort-sweep,attachment-memory,body-departure,campaign,faults,queue-departure,saved-state}.test.ts",
            "test/e2e/{anthropic-sdk,google-genai,keep-alives,ollama,openai-responses,pages-{browser,failures,identity,safety,secrets}}.test.ts",
          ],
          env: { RUNTIME: "deno", ...TEST_CERTIFICATES },
          ...BLACK_BOX,
        },
      },
      {
        plugins: [
          cloudflareTest({
            main: "./src/worker.ts",
            wrangler: { configPath: "./wrangler.toml" },
            // What a deployment may bind besides.
            miniflare: { r2Buckets: ["HISTORY_BUCKET", "RESPONSES_BUCKET"] },
          }),
        ],
        // The first call of an object loads the program.
        test: {
          ...IN_WORKERD,
          ...PATIENT,
          name: "workers",
          include: ["test/workers/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
