// Node loads this file first in wrangler's processes. It ends them when the process that started them has been killed:
// otherwise they would go on using the stored state.
import { onParentEnd } from "./parent-process.mjs";

onParentEnd(() => process.kill(process.pid, "SIGTERM"));
