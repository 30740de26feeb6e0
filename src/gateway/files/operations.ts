/* What endpoints do with files, as one module that can be loaded when the first of them is called. */
export {
  deleteCallerFile,
  listCallerFiles,
  paginate,
  readCallerFile,
  readCallerFileContent,
} from "./caller-files.ts";
export { receiveForm } from "./receive.ts";
export { discardUnreadBody, getUnreadBody } from "./unread-body.ts";
