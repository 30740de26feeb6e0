/** Generates a random key of 256 bits. */
export function generateKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `sk-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
