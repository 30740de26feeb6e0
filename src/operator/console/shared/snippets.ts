import { formatApiStyle } from "../ui/api-styles.ts";
import { texts } from "./texts.ts";

/** What a snippet needs to know of the gateway and its caller. */
export interface Connection {
  /** The gateway's address without a path, for example `https://gateway.example`. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
}

/** How one SDK or agent is connected. */
export interface Snippet {
  readonly id: string;
  readonly name: string;
  /** Where the text belongs, for example a file's name. */
  readonly place: string;
  readonly text: string;
}

/** Shown instead of a key that the console does not know. */
export const KEY_PLACEHOLDER = "YOUR_API_KEY";

const json = (value: string): string => JSON.stringify(value);

/** Quotes a value for a POSIX shell. */
function shell(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

const formatStyles = (...ids: readonly string[]): string => ids.map(formatApiStyle).join(", ");

/** The base address of each API style. */
export function listBaseAddresses(origin: string): readonly (readonly [style: string, address: string])[] {
  return [
    [formatStyles("chat-completions", "responses", "completions", "embeddings", "files"), `${origin}/v1`],
    [formatStyles("messages"), `${origin}/anthropic`],
    [formatStyles("content-generation"), origin],
    [formatStyles("model-runner"), origin],
    ["Azure OpenAI", origin],
  ];
}

/** Snippets for the SDKs of the vendors, and for curl. */
export function listSdkSnippets({ origin, key, model }: Connection): readonly Snippet[] {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] });
  return [
    {
      id: "curl",
      name: "curl",
      place: "Shell",
      text: [
        `curl ${shell(`${origin}/v1/chat/completions`)} \\`,
        `  -H ${shell(`Authorization: Bearer ${key}`)} -H 'Content-Type: application/json' \\`,
        `  -d ${shell(body)}`,
      ].join("\n"),
    },
    {
      id: "openai-js",
      name: "OpenAI, JavaScript",
      place: "npm install openai",
      text: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${json(`${origin}/v1`)}, apiKey: ${json(key)} });
const completion = await client.chat.completions.create({
  model: ${json(model)},
  messages: [{ role: "user", content: "Hello!" }],
});
console.log(completion.choices[0]?.message.content);`,
    },
    {
      id: "openai-python",
      name: "OpenAI, Python",
      place: "pip install openai",
      text: `from openai import OpenAI

client = OpenAI(base_url=${json(`${origin}/v1`)}, api_key=${json(key)})
completion = client.chat.completions.create(
    model=${json(model)},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(completion.choices[0].message.content)`,
    },
    {
      id: "anthropic-js",
      name: "Anthropic, JavaScript",
      place: "npm install @anthropic-ai/sdk",
      text: `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: ${json(`${origin}/anthropic`)}, apiKey: ${json(key)} });
const message = await client.messages.create({
  model: ${json(model)},
  max_tokens: 1000,
  messages: [{ role: "user", content: "Hello!" }],
});
console.log(message.content);`,
    },
    {
      id: "anthropic-python",
      name: "Anthropic, Python",
      place: "pip install anthropic",
      text: `from anthropic import Anthropic

client = Anthropic(base_url=${json(`${origin}/anthropic`)}, api_key=${json(key)})
message = client.messages.create(
    model=${json(model)},
    max_tokens=1000,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(message.content[0].text)`,
    },
    {
      id: "google-js",
      name: "Google, JavaScript",
      place: "npm install @google/genai",
      text: `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: ${json(key)}, httpOptions: { baseUrl: ${json(origin)} } });
const answer = await client.models.generateContent({ model: ${json(model)}, contents: "Hello!" });
console.log(answer.text);`,
    },
    {
      id: "ollama-python",
      name: "Ollama, Python",
      place: "pip install ollama",
      text: `from ollama import Client

client = Client(host=${json(origin)}, headers={"Authorization": ${json(`Bearer ${key}`)}})
answer = client.chat(model=${json(model)}, messages=[{"role": "user", "content": "Hello!"}])
print(answer.message.content)`,
    },
  ];
}

/** Snippets for coding agents. */
export function listAgentSnippets({ origin, key, model }: Connection): readonly Snippet[] {
  return [
    {
      id: "claude-code",
      name: "Claude Code",
      place: "Shell",
      text: `export ANTHROPIC_BASE_URL=${shell(`${origin}/anthropic`)}
export ANTHROPIC_API_KEY=${shell(key)}
claude --model ${shell(model)}`,
    },
    {
      id: "codex",
      name: "Codex",
      place: "~/.codex/config.toml, with the key in the environment variable POLYGATE_KEY",
      text: `model = ${json(model)}
model_provider = "polygate"

[model_providers.polygate]
name = "Polygate"
base_url = ${json(`${origin}/v1`)}
env_key = "POLYGATE_KEY"
wire_api = "responses"`,
    },
    {
      id: "gemini-cli",
      name: "Gemini CLI",
      place: "Shell",
      text: `export GOOGLE_GEMINI_BASE_URL=${shell(origin)}
export GEMINI_API_KEY=${shell(key)}
gemini -m ${shell(model)}`,
    },
    {
      id: "opencode",
      name: "opencode",
      place: "opencode.json",
      text: JSON.stringify(
        {
          provider: {
            polygate: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: `${origin}/v1`, apiKey: key },
              models: { [model]: { name: model, tool_call: true } },
            },
          },
        },
        null,
        2,
      ),
    },
    {
      id: "copilot",
      name: "GitHub Copilot CLI",
      place: "Shell",
      text: `export COPILOT_PROVIDER_BASE_URL=${shell(`${origin}/v1`)}
export COPILOT_PROVIDER_API_KEY=${shell(key)}
export COPILOT_MODEL=${shell(model)}
copilot`,
    },
    {
      id: "mcp",
      name: texts.mcpTools,
      place: "Shell",
      text: `claude mcp add --transport http polygate ${shell(`${origin}/mcp`)} --header ${shell(`Authorization: Bearer ${key}`)}`,
    },
  ];
}
