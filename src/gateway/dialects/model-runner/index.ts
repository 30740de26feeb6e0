import type { Endpoint } from "../../../core/routing/endpoint.ts";
import { runnerEmbed, runnerEmbeddings } from "./embeddings.ts";
import { runnerChat, runnerGenerate } from "./endpoints.ts";
import { runnerRunning, runnerShow, runnerTags, runnerVersion } from "./models.ts";

/** All endpoints of the style. */
export const RUNNER_ENDPOINTS: readonly Endpoint[] = [
  runnerVersion,
  runnerTags,
  runnerRunning,
  runnerShow,
  runnerChat,
  runnerGenerate,
  runnerEmbed,
  runnerEmbeddings,
];
