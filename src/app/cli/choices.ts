/**
 * The words that commands accept as arguments; help and completion show them without loading a
 * command.
 */
export const listKinds = ["tools", "prompts", "resources", "templates", "servers"] as const;
export const shells = ["bash", "zsh", "fish"] as const;
