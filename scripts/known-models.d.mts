import type { KnownModels } from "../src/gateway/models/known-model.ts";

export function collectKnownModels(date: string): Promise<KnownModels>;
export function formatKnownModels(known: KnownModels): string;
