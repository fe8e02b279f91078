# The Homebrew formula, with the places that a release fills in: node scripts/formula.js writes it
# with the address and the digest of a published package (docs/install.md).
class Goblin < Formula
  desc "One MCP endpoint in front of all your MCP servers"
  homepage "https://www.npmjs.com/package/goblin-mcp"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    generate_completions_from_executable(bin/"goblin", "completion")
  end

  # Without a config in ~/.config/goblin, it serves the demo.
  service do
    run [opt_bin/"goblin", "serve"]
    keep_alive successful_exit: false
    environment_variables PATH: std_service_path_env
    log_path var/"log/goblin.log"
    error_log_path var/"log/goblin.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/goblin --version")
    (testpath/"goblin.json").write '{ "mcpServers": {} }'
    assert_match "goblin.json", shell_output("#{bin}/goblin check --config #{testpath}/goblin.json")
  end
end
