/** Members without which no request works. */
const REQUIRED_PARAMS = /^(?:model|stream|messages|input|contents|prompt)$/;

const MEMBER_NAME = /^[\w-]{1,64}(?:\.[\w-]{1,64}){0,7}$/;

/** Whether a text is the name of a member of requests; that of a deeper member has dots. */
export function isMemberName(name: string): boolean {
  return MEMBER_NAME.test(name);
}

/** Whether requests work without a member. */
export function isDroppable(name: string): boolean {
  return !REQUIRED_PARAMS.test(name);
}
