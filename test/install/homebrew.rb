# A Homebrew for one formula: runs its install and test blocks in a folder, with the few methods of
# Homebrew that they use. Arguments: the formula, the unpacked package, the folder.
require "pathname"
require "open3"

class Pathname
  def install_symlink(files)
    mkpath
    files.each { |file| (self/file.basename).make_symlink(file) }
  end
end

class Formula
  class << self
    attr_reader :fields, :tested, :served

    %w[desc homepage url sha256 license depends_on].each do |name|
      define_method(name) { |value| (@fields ||= {})[name] = value }
    end

    def test(&block) = @tested = block

    def service(&block) = @served = block
  end

  def initialize(folder) = @folder = Pathname(folder)

  def bin = @folder/"bin"

  def libexec = @folder/"libexec"

  def testpath = (@folder/"test").tap(&:mkpath)

  def version = self.class.fields["url"][/-(\d+\.\d+\.\d+)\.tgz$/, 1]

  # Homebrew packs the folder and installs that; offline, and without scripts.
  def std_npm_args
    tarball, = Open3.capture2("npm", "pack", "--ignore-scripts", "--silent")
    ["--offline", "--ignore-scripts", "--global", "--no-audit", "--no-fund", "--prefix=#{libexec}", "./#{tarball.strip}"]
  end

  def system(*words) = Kernel.system(*words) || abort("failed: #{words.join(" ")}")

  def generate_completions_from_executable(program, word)
    %w[bash zsh fish].each { |shell| shell_output("#{program} #{word} #{shell}") }
  end

  def shell_output(command)
    output, status = Open3.capture2(command)
    status.success? ? output : abort("failed: #{command}")
  end

  def assert_match(expected, text) = text.include?(expected) || abort("#{expected.inspect} is not in #{text.inspect}")
end

# The words that a service block may use; what it says is printed.
class Service
  def opt_bin = Pathname("/opt/bin")

  def var = Pathname("/var")

  def std_service_path_env = "PATH"

  %w[run keep_alive environment_variables log_path error_log_path].each do |name|
    define_method(name) { |value| puts "#{name}: #{Array(value).join(" ")}" }
  end
end

formula, package, folder = ARGV
load formula
goblin = Goblin.new(folder)
Dir.chdir(package) { goblin.install }
goblin.instance_eval(&Goblin.tested)
Service.new.instance_eval(&Goblin.served)
puts "sha256: #{Goblin.fields["sha256"]}"
