const MODELS_BY_DIMENSIONS: readonly (readonly [dimensions: number, ...names: string[]])[] = [
  [384, "all-minilm", "all-minilm:22m", "all-minilm:33m", "granite-embedding"],
  [768, "text-embedding-004", "text-embedding-005", "text-multilingual-embedding-002", "embedding-001"],
  [768, "nomic-embed-text", "nomic-embed-text:v1.5", "embeddinggemma", "paraphrase-multilingual"],
  [1024, "mxbai-embed-large", "bge-m3", "bge-large", "snowflake-arctic-embed", "snowflake-arctic-embed2"],
  [1024, "mistral-embed", "jina-embeddings-v3", "text-embedding-v3", "text-embedding-v4"],
  [1024, "voyage-3", "voyage-3-large", "voyage-3.5", "qwen3-embedding:0.6b"],
  [1536, "text-embedding-3-small", "text-embedding-ada-002", "codestral-embed", "embed-v4.0"],
  [2560, "qwen3-embedding:4b"],
  [
    3072,
    "text-embedding-3-large",
    "gemini-embedding-001",
    "gemini-embedding-2",
    "gemini-embedding-2-preview",
  ],
  [3072, "gemini-embedding-exp-03-07"],
  [4096, "qwen3-embedding", "qwen3-embedding:8b"],
];

/** Default embedding models of clients, and the usual number of dimensions of their vectors. */
export const EMBEDDING_DIMENSIONS: ReadonlyMap<string, number> = new Map(
  MODELS_BY_DIMENSIONS.flatMap(([dimensions, ...names]) => names.map((name) => [name, dimensions] as const)),
);
