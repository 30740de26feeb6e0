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
 * times as many for 7 %, with four times as many for 2 %.
 */
const WAITING = { maxWorkers: 4 * availableParallelism(), sequence: { groupOrder: 2 } } as const;

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
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const;
const TEST_CERTIFICATES = { NODE_EXTRA_CA_CERTS: `${import.meta.dirname}/test/support/fixtures/tls/ca.pem` };

/** Files that take or wait longest: if one begins last, the machine waits for it. */
const LONG = new Set(
  [
    "abort-sweep affinity campaign client-memory dialects-agree documents failures faults message-backends",
    "native-streams package proxied-fetch realtime start thumbnails usage-details",
  ].flatMap((names) => names.split(" ")),
);
const isLong = (path: string) =>
  LONG.has(basename(path, ".test.ts")) || /\/(?:console|pages)[\w-]*\.test|\.browser\.test/.test(path);

/** Runs the long files of each project first: short ones fill the end. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      ["deno", "integration"].indexOf(project.name) + (isLong(moduleId) ? 0 : 0.5);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
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
    sequence: { sequencer: LongFilesFirst },
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
