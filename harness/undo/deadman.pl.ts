/**
 * The program that lies on a node while a fault is there: when the lease runs out it takes the
 * faults back, last first, until the digests are as before, then removes itself. Perl from
 * perl-base and sh are all that it needs. It reads what the runner left in /var/lib/hopdrill/<run>/
 * and writes nothing while it waits, so a full disk does not stop it.
 */
export const deadmanProgram = `use strict; use warnings; use Fcntl qw(:flock); use POSIX ();
my ($cmd, $run, $seconds) = @ARGV;
die "not a run id\\n" unless defined $run && $run =~ /^[A-Za-z0-9][A-Za-z0-9_-]{2,59}$/;
my $dir = "/var/lib/hopdrill/$run";
my $unit = "hopdrill-$run.service";
my @unit_files = ("/etc/systemd/system/multi-user.target.wants/$unit", "/etc/systemd/system/$unit");
$ENV{PATH} = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
$| = 1; $SIG{PIPE} = 'IGNORE';

sub slurp { my ($f) = @_; open my $h, '<', $f or return ''; local $/; my $t = <$h>; return defined $t ? $t : '' }
sub boot { my ($b) = split ' ', slurp('/proc/sys/kernel/random/boot_id'); $b || 'unknown' }
sub uptime { my ($u) = split ' ', slurp('/proc/uptime'); $u || 0 }
# In place and always the same length: renewing needs no free space.
sub renew {
  my ($s) = @_; my $f = "$dir/lease";
  open my $h, (-e $f ? '+<' : '>'), $f or die "no lease to renew: $!\\n";
  printf $h "%s %016.3f %016.3f\\n", boot(), uptime() + $s, time() + $s; close $h or die "lease: $!\\n";
}
# Uptime decides inside one boot, the clock only after a reboot.
sub expired {
  my ($b, $u, $w) = split ' ', slurp("$dir/lease");
  return 1 unless defined $w;
  return $b eq boot() ? uptime() >= $u : time() >= $w;
}
sub steps {
  my (@steps, $s);
  for (split /\\n/, slurp("$dir/steps")) {
    my ($key, @f) = split / /;
    if ($key eq 'step') { $s = { n => $f[0], superseded => $f[1], verify => $f[2], undo => [] }; push @steps, $s }
    elsif ($key eq 'before') { $s->{before} = pack 'H*', $f[0] // '' }
    else {
      my ($ok, $in, @argv) = @f;
      my $a = { ok => { map { $_ => 1 } split /,/, $ok }, in => pack('H*', $in eq '-' ? '' : $in), argv => [map { pack 'H*', $_ eq '-' ? '' : $_ } @argv] };
      if ($key eq 'undo') { push @{ $s->{undo} }, $a } else { $s->{digest} = $a }
    }
  }
  return @steps;
}
sub act {
  my ($a) = @_;
  pipe(my $ir, my $iw) or return (255, ''); pipe(my $or, my $ow) or return (255, '');
  my $pid = fork; return (255, '') unless defined $pid;
  if (!$pid) {
    setpgrp(0, 0); open STDIN, '<&', $ir; open STDOUT, '>&', $ow; open STDERR, '>&', $ow; close $iw; close $or;
    exec { $a->{argv}[0] } @{ $a->{argv} } or POSIX::_exit(127);
  }
  close $ir; close $ow; print $iw $a->{in}; close $iw;
  my $out = '';
  my $done = eval { local $SIG{ALRM} = sub { die "late\\n" }; alarm 20; local $/; $out = <$or> // ''; waitpid $pid, 0; alarm 0; 1 };
  if (!$done) { alarm 0; kill 'KILL', -$pid; waitpid $pid, 0; return (124, 'no end within 20 s') }
  return ($? >> 8, $out);
}
sub digest { my ($s) = @_; my ($c, $out) = act($s->{digest}); $out =~ s/\\s+\\z//; return ($s->{digest}{ok}{$c} ? 1 : 0, $out) }
sub take_back {
  my ($s) = @_;
  my $injected = slurp("$dir/injected.$s->{n}"); $injected =~ s/\\s+\\z//;
  if ($s->{superseded} && $injected ne '') {
    my ($ok, $now) = digest($s);
    if ($ok && unpack('H*', $now) ne $injected && $now ne $s->{before}) { print "step $s->{n}: superseded by a repair\\n"; return 1 }
  }
  # From here on a strange digest is our own half-done work.
  unlink "$dir/injected.$s->{n}";
  for my $a (@{ $s->{undo} }) {
    my ($c, $out) = act($a);
    unless ($a->{ok}{$c}) { $out = substr $out, 0, 300; print "step $s->{n}: undo ended with $c: $out\\n"; return 0 }
  }
  return 1 unless $s->{verify};
  for (1 .. 20) {
    my ($ok, $now) = digest($s);
    if ($ok && $now eq $s->{before}) { print "step $s->{n}: taken back, digest as before\\n"; return 1 }
    select undef, undef, undef, 0.1;
  }
  print "step $s->{n}: digest still differs\\n"; return 0;
}
# All steps, last first; true when every one is back. A runner that is there again takes over at once.
sub fire {
  my ($force) = @_;
  open my $lock, '>>', "$dir/lock" or return 0; flock $lock, LOCK_EX;
  my $all = 1;
  for my $s (reverse steps()) { return 0 unless $force || expired(); $all = 0 unless take_back($s) }
  return $all;
}
sub forget {
  unlink @unit_files; system 'rm', '-rf', $dir; rmdir '/var/lib/hopdrill';
  # Ends this process as well, and clears what a reload left in systemd's memory.
  system 'systemctl', 'daemon-reload';
}
sub serve {
  print "holding $run\\n";
  while (1) {
    exit 0 unless -d $dir;
    if (expired()) { print "the lease is over\\n"; if (fire(0)) { forget(); print "all is back; gone\\n"; exit 0 } select undef, undef, undef, 1 }
    select undef, undef, undef, 0.15;
  }
}
sub install {
  renew($seconds); close(do { open my $l, '>>', "$dir/lock" or die; $l });
  open my $h, '>', $unit_files[1] or die "unit: $!\\n";
  print $h "[Unit]\\nDescription=hopdrill dead-man of run $run\\nStartLimitIntervalSec=0\\n[Service]\\n"
    . "ExecStart=/usr/bin/perl $dir/deadman.pl serve $run\\nRestart=on-failure\\nRestartSec=1\\nKillMode=process\\nOOMScoreAdjust=-900\\n[Install]\\nWantedBy=multi-user.target\\n";
  close $h or die "unit: $!\\n";
  mkdir '/etc/systemd/system/multi-user.target.wants'; symlink $unit_files[1], $unit_files[0];
  system('systemctl', 'start', $unit) == 0 or die "the dead-man does not start\\n";
  print "armed\\n";
}
if ($cmd eq 'serve') { serve() } elsif ($cmd eq 'renew') { renew($seconds) } elsif ($cmd eq 'install') { install() }
elsif ($cmd eq 'fire') { exit(fire(1) ? 0 : 1) } else { die "serve, renew, install, fire\\n" }
`;
