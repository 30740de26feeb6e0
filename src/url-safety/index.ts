export { isPublicAddress } from "./addresses.ts";
export {
  checkPageUrl,
  isPublicRequestUrl,
  MAX_URL_LENGTH,
  type PageUrlCheck,
  type PageUrlRefusalCode,
  type UrlSafetyOptions,
} from "./check.ts";
export { parsePrivateHosts } from "./hosts.ts";
