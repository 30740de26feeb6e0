import { type Alias, FLASH, PRO, VISION } from "./alias.ts";

type LibraryModel = readonly [name: string, target: string, ...tags: string[]];

/** Models in the libraries of local runners, with their tags. */
const LIBRARY: readonly LibraryModel[] = [
  ["llama3", FLASH, "8b", "70b"],
  ["llama3.1", FLASH, "8b", "70b", "405b"],
  ["llama3.2", FLASH, "1b", "3b"],
  ["llama3.3", FLASH, "70b"],
  ["llama4", FLASH, "scout", "maverick", "16x17b", "128x17b"],
  ["llama3.2-vision", VISION, "11b", "90b"],
  ["llava", VISION, "7b", "13b", "34b"],
  ["codellama", PRO, "7b", "13b", "34b", "70b"],
  ["gpt-oss", FLASH, "20b", "120b", "20b-cloud", "120b-cloud"],
  ["qwen2.5", FLASH, "0.5b", "1.5b", "3b", "7b", "14b", "32b", "72b"],
  ["qwen2.5-coder", PRO, "0.5b", "1.5b", "3b", "7b", "14b", "32b"],
  ["qwen2.5vl", VISION, "3b", "7b", "32b", "72b"],
  ["qwen3", FLASH, "0.6b", "1.7b", "4b", "8b", "14b", "30b", "32b", "235b"],
  ["qwen3-coder", PRO, "30b", "480b", "480b-cloud"],
  ["qwen3-vl", VISION, "2b", "4b", "8b", "30b", "32b", "235b"],
  ["qwq", PRO, "32b"],
  ["gemma2", FLASH, "2b", "9b", "27b"],
  ["gemma3", FLASH, "270m", "1b", "4b", "12b", "27b"],
  ["gemma3n", FLASH, "e2b", "e4b"],
  ["mistral", FLASH, "7b"],
  ["mistral-nemo", FLASH, "12b"],
  ["mistral-small", FLASH, "22b", "24b"],
  ["mistral-large", PRO, "123b"],
  ["mixtral", FLASH, "8x7b", "8x22b"],
  ["codestral", PRO, "22b"],
  ["devstral", PRO, "24b"],
  ["magistral", PRO, "24b"],
  ["phi3", FLASH, "3.8b", "14b", "mini", "medium"],
  ["phi4", FLASH, "14b"],
  ["phi4-mini", FLASH, "3.8b"],
  ["deepseek-r1", PRO, "1.5b", "7b", "8b", "14b", "32b", "70b", "671b"],
  ["deepseek-v3", FLASH, "671b"],
  ["deepseek-v3.1", FLASH, "671b", "671b-cloud"],
  ["deepseek-coder", PRO, "1.3b", "6.7b", "33b"],
  ["deepseek-coder-v2", PRO, "16b", "236b"],
  ["kimi-k2", FLASH, "1t-cloud"],
  ["glm-4.6", PRO, "cloud"],
  ["nomic-embed-text", FLASH, "v1.5"],
  ["mxbai-embed-large", FLASH, "335m"],
];

/** The names that local runners use: each name alone, with `latest`, and with each of its tags. */
export const RUNNER_NAMES: readonly Alias[] = LIBRARY.flatMap(([name, target, ...tags]) => [
  [name, target] as const,
  ...["latest", ...tags].map((tag) => [`${name}:${tag}`, target] as const),
]);
