import type { Dialect } from "../dialect.ts";
import { runnerEmbed, runnerEmbeddings } from "./embeddings.ts";
import { runnerChat, runnerGenerate } from "./endpoints.ts";
import { RUNNER_FAMILY } from "./family.ts";
import { runnerRunning, runnerShow, runnerTags, runnerVersion } from "./models.ts";
import { ID } from "./request.ts";

/** The local-model-runner style. */
export const modelRunner: Dialect = {
  id: ID,
  tag: "Local-model-runner style",
  family: RUNNER_FAMILY,
  paths: ["/api/"],
  credentials: [{ in: "bearer" }],
  endpoints: [
    runnerVersion,
    runnerTags,
    runnerRunning,
    runnerShow,
    runnerChat,
    runnerGenerate,
    runnerEmbed,
    runnerEmbeddings,
  ],
};
