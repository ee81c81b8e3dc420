# First part of four, sent as one program.
# The one visit to a node: run as root by the ops user, asks everything side by side and drops to the agent's user for
# whatever the agent does itself. Needs perl-base, openssl and coreutils. It must never print a key, token or password,
# and must leave nothing behind.
use strict;
use warnings;

# A program's output as a handle; what it has to complain about is nobody's.
sub start_program {
    my @argv = @_;
    my $pid = open(my $out, '-|') // return undef;
    if (!$pid) { open(STDERR, '>', '/dev/null'); open(STDIN, '<', '/dev/null'); exec { $argv[0] } @argv or exit 127 }
    return $out;
}
sub read_program { my ($out) = @_; return '' unless $out; local $/; my $text = <$out>; close $out; return $text // '' }
sub run_program { return read_program(start_program(@_)) }

# The unit is asked while the rest of this program is still being compiled.
my ($agent, $unit, $node, $corr, $dial_ms, $term_ms, $stale_s, @declared);
my (@properties, $unit_answer);
BEGIN {
    $| = 1;
    ($agent, $unit, $node, $corr, $dial_ms, $term_ms, $stale_s, @declared) = @ARGV;
    @properties = qw(LoadState ActiveState SubState Result NRestarts ExecMainStatus ExecMainCode MainPID UnitFileState StateChangeTimestampMonotonic ActiveEnterTimestampMonotonic Environment EnvironmentFiles ExecStart);
    $unit_answer = start_unit();
    sub start_unit { return start_program('systemctl', 'show', '-p', join(',', @properties), $unit) }
}
# POSIX and IO::Handle would be half of what starting costs.
use Socket qw(:all);
use Fcntl;
use Errno ();

my ($want_api, $want_api_at, $want_term, $want_term_at) = map { $_ // '' } @declared[0 .. 3];
my $hires = eval { require Time::HiRes; 1 };
sub now { $hires ? Time::HiRes::time() : time() }
my $t0 = now();
sub ms { sprintf '%.1f', (now() - $t0) * 1000 }
my @errnames = qw(ECONNREFUSED ECONNRESET ETIMEDOUT EHOSTUNREACH ENETUNREACH EACCES EPERM EINVAL ENOSPC EROFS EDQUOT EIO ENOENT EMFILE ENFILE EPIPE ENOTDIR EISDIR);
sub errname { local $! = $_[0] + 0; my ($name) = grep { $!{$_} } @errnames; return $name // 'E' . ($! + 0) }

# One line a fact: section, key, value.
sub say_fact {
    my ($section, $key, $value) = @_;
    $value = '' unless defined $value;
    $value =~ s/\\/\\\\/g; $value =~ s/\n/\\n/g; $value =~ s/\r/\\r/g; $value =~ s/\t/\\t/g;
    print STDOUT "$section\t$key\t$value\n";
}

# --- side by side: each section is a child with a pipe of its own, so that lines never mix -------------------------------
my %pipe_of;
sub section {
    my ($name, $code) = @_;
    pipe(my $read, my $write) or return;
    my $pid = fork();
    if (!$pid) {
        close $read; open(STDOUT, '>&', $write);
        eval { $code->($name); 1 } or say_fact($name, 'broke', $@);
        say_fact($name, 'ms', ms());
        exit 0;
    }
    close $write;
    $pipe_of{fileno $read} = $read;
}
sub gather {
    my $until = now() + shift;
    while (%pipe_of && now() < $until) {
        my $bits = ''; vec($bits, $_, 1) = 1 for keys %pipe_of;
        my $left = $until - now(); $left = 0 if $left < 0;
        next unless select(my $ready = $bits, undef, undef, $left) > 0;
        for my $fd (keys %pipe_of) {
            next unless vec($ready, $fd, 1);
            my $n = sysread($pipe_of{$fd}, my $chunk, 65536);
            if ($n) { print STDOUT $chunk } else { close delete $pipe_of{$fd} }
        }
    }
}

sub slurp { my ($path, $most) = @_; open(my $in, '<', $path) or return undef; my $n = sysread($in, my $text, $most // 65536); return defined $n ? $text : undef }

