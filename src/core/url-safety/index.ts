export { isPublicAddress } from "./addresses.ts";
export { isListedPrivateHost, parseHostEntry, parsePrivateHosts } from "./hosts.ts";
export {
  checkPageUrl,
  isPublicRequestUrl,
  MAX_URL_LENGTH,
  type PageUrlCheck,
  type PageUrlRefusalCode,
  type UrlSafetyOptions,
} from "./page-url.ts";
