/**
 * Words that a command takes as its argument; the help and the completion show them without loading
 * the command.
 */
export const listKinds = ["tools", "prompts", "resources", "templates", "servers"] as const;
export const shells = ["bash", "zsh", "fish"] as const;
