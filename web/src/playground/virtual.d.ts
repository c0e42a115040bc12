declare module "virtual:simulator" {
  /** The simulator's module, compressed by gzip, in base64. */
  const module: string;
  export default module;
}
