/** Parameters of a query that carry credentials. */
const CREDENTIAL_PARAMETERS = ["key", "api_key"];

/** The query of a request without its credentials, as text. */
export function getPublicQuery({ searchParams }: URL): string {
  const query = new URLSearchParams(searchParams);
  for (const name of CREDENTIAL_PARAMETERS) query.delete(name);
  return query.toString();
}
