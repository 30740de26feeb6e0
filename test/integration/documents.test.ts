import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allowPrivateHosts, cacheFolder, root } from "../../scripts/development.mjs";
import { varsOf } from "../../scripts/launch.mjs";
import { browserExecutable } from "../support/browser.ts";
import { type Block, blocksOf, documents } from "../support/documents.ts";
import { startGateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { html } from "../support/pages.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const run = promisify(execFile);

const RUN = documents()
  .flatMap(({ path, text }) => blocksOf(path, text))
  .filter(({ notRun }) => notRun === null);

/** Blocks that start a gateway with an engine behind it; the same one may stand in several documents. */
const isEngine = ({ text }: Block) => text.startsWith("npm start -- --var PROVIDER");
const ENGINES = RUN.filter(isEngine).filter(
  ({ text }, at, all) => all.findIndex((other) => other.text === text) === at,
);
const COMMANDS = RUN.filter((block) => block.language === "sh" && !isEngine(block));

/** Where the documents say that the gateway is. */
const PRINTED = "http://127.0.0.1:8787";
/** A page that documents have looked at. */
const PRINTED_PAGE = "https://example.com";

/** A block fails if a command fails, or if a server refuses a request. */
const PRELUDE = 'set -euo pipefail\ncurl() { command curl -sS --fail-with-body "$@"; }\n';

let site: LocalServer;
const folder = mkdtempSync(join(tmpdir(), "polygate-documents-"));
/** Below the project, so that its packages are found. */
const scripts = join(cacheFolder, "documents");

beforeAll(async () => {
  site = await serve((_, response) => html(response, "", "<h1>A page</h1>"));
  allowPrivateHosts(site.host);
  cpSync(join(root, "README.md"), join(folder, "README.md"));
  mkdirSync(scripts, { recursive: true });
});
const gateway = useGateway(() => ({ vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" } }));
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(scripts, { recursive: true, force: true });
});

const here = (text: string): string =>
  text.replaceAll(PRINTED, gateway.gateway.url).replaceAll(PRINTED_PAGE, `${site.origin}/`);

describe("what the documents print works as printed", () => {
  it.each(COMMANDS)("$place", async ({ text }) => {
    const lines = text
      .split("\n")
      .filter((line) => browserExecutable() !== null || !line.includes("/v1/thumbs"));
    const { stdout } = await run("bash", ["-c", PRELUDE + here(lines.join("\n"))], { cwd: folder });
    expect(stdout).not.toMatch(/"error":\{|"success":false/);
  });

  it("each SDK for JavaScript gets the sandbox's answer", async () => {
    const blocks = RUN.filter(({ language }) => language === "ts");
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    const files = blocks.map(({ text }, at) => {
      writeFileSync(join(scripts, `${at}.ts`), here(text));
      return `./${at}.ts`;
    });
    // One process for all: loading the SDKs costs more than what they do.
    const main = join(scripts, "main.mjs");
    writeFileSync(
      main,
      files.map((file, at) => `await import("${file}"); console.log("\\nend of ${at}");`).join("\n"),
    );
    const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", main]);
    const said = stdout.split(/\nend of \d+\n/);
    for (const [at, { place }] of blocks.entries())
      expect(said[at], place).toContain("Hello from the sandbox!");
  });

  it("Python can read its blocks, and runs those whose SDK is there", (context) => {
    const blocks = RUN.filter(({ language }) => language === "python");
    const input = JSON.stringify(blocks.map(({ place, text }) => ({ place, text: here(text) })));
    const program = `
import ast, importlib.util, json, sys
for block in json.load(sys.stdin):
    tree = ast.parse(block["text"], block["place"])
    names = [getattr(node, "module", None) or node.names[0].name for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    def there(name):
        try:
            return importlib.util.find_spec(name + ".genai" if name == "google" else name) is not None
        except ModuleNotFoundError:
            return False
    if all(there(name) for name in names):
        exec(compile(tree, block["place"], "exec"), {})
    print("read", block["place"])
`;
    const { error, status, stdout, stderr } = spawnSync("python3", ["-c", program], {
      input,
      encoding: "utf8",
    });
    if (error !== undefined) return context.skip("there is no Python on this machine");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.match(/^read /gm)).toHaveLength(blocks.length);
  });
});

describe("an engine is behind the gateway after the printed command", () => {
  it.each(ENGINES)("$place", async ({ text }) => {
    const { stdout } = await run("bash", ["-c", `npm() { printf '%s\\n' "$@"; }\n${text}`]);
    const vars = varsOf(stdout.trim().split("\n"));
    const names: string[] = Object.values(JSON.parse(vars["PROVIDER_MODELS"] ?? ""));
    const engine = await startEngine(names);
    try {
      const { pathname } = new URL(vars["PROVIDER_BASE_URL"] ?? "");
      const address = engine.origin + pathname.replace(/\/$/, "");
      const behind = await startGateway({ vars: { ...vars, PROVIDER_BASE_URL: address } });
      try {
        const client = new OpenAI({ baseURL: `${behind.url}/v1`, apiKey: DEV_KEY, maxRetries: 0 });
        for (const model of ["gpt-4o", "gpt-5-codex"]) {
          const answer = await client.chat.completions.create({
            model,
            messages: [{ role: "user", content: "Hello!" }],
          });
          expect(answer.choices[0]?.message.content).toMatch(/^The engine's /);
        }
      } finally {
        await behind.close();
      }
    } finally {
      await engine.close();
    }
  });
});

/** An engine that knows these models alone, in every style; one of them names the model in the path. */
function startEngine(names: readonly string[]): Promise<LocalServer> {
  return serve((request, response, { pathname }) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const [, named] = /\/models\/([^/:]+):/.exec(pathname) ?? [];
      const { model = named ?? "" } = JSON.parse(body || "{}");
      const answer = answers[pathname.replace(model, "{model}")];
      const reply = names.includes(model) ? answer?.(`The engine's ${model}.`) : undefined;
      response.writeHead(reply === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(reply ?? { error: { message: `no ${model} at ${pathname}` } }));
    });
  });
}

const answers: Readonly<Record<string, (text: string) => object>> = {
  "/v1/chat/completions": (content) => ({
    id: "chat-1",
    object: "chat.completion",
    created: 1,
    model: "engine",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  }),
  "/v1/responses": (text) => ({
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [
      {
        id: "msg_1",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
  }),
  "/v1beta/models/{model}:generateContent": (text) => ({
    candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
  }),
  "/v1/messages": (text) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "engine",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
};
