/**
 * The login cookie of the edge as a browser sends it; what a person gives may be the value alone or
 * `name=value`.
 */
export const edgeCookieOf = (text: string): string =>
  /^[\w-]+=/.test(text) ? text : `gpuaas_edge=${text}`;
