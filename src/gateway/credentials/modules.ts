/*
 * All code for credentials, which few isolates need, as one lazily loaded module: several would split the code that they
 * share with other modules into many small parts.
 */
export { requestAccessToken } from "./access-token.ts";
export { signAwsRequest } from "./aws-signature.ts";
