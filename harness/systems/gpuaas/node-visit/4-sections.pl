# Fourth part: the sections of the visit, all at once.
my $wait = "/internal/v1/nodes/$self/tasks/wait?claim=false";
my $stream = '/healthz';
my ($api, $term) = ($env{GPUAAS_API_URL} // $want_api, $env{GPUAAS_TERMINAL_API_URL} // $want_term);
section('api', sub { be_agent(); dial('api', $api, $wait, $dial_ms, '', 1) }) if $api;
section('term', sub { be_agent(); dial('term', $term, $stream, $term_ms, '', 0) }) if $term;
section('recovery', sub { be_agent(); my $u = $env{GPUAAS_RECOVERY_API_URL}; my $s = now();
    my ($host, $port) = $u =~ m{^https?://([^/:]+)(?::(\d+))?} or return; my ($found, $dns) = resolve($host, $s + 1);
    say_fact('recovery', 'code', $dns ? "dns $dns" : 'tcp ' . (tcp($found->[0], $port || 443, $s + 1) // 'ok')) }) if $env{GPUAAS_RECOVERY_API_URL};
section('want-api', sub { be_agent(); dial('want-api', $want_api, $wait, $dial_ms, $want_api_at, 1) }) if $want_api && ($want_api ne $api || $want_api_at ne '');
section('want-term', sub { be_agent(); dial('want-term', $want_term, $stream, $dial_ms, $want_term_at, 0) }) if $want_term && ($want_term ne $term || $want_term_at ne '');

# --- what the agent writes, reads and is ----------------------------------------------------------------------------------
section('disk', sub {
    my ($blocks, $inodes) = map { start_program('df', '-P', $_, '/') } '-k', '-i';
    my $df = read_program($blocks);
    say_fact('disk', 'df', $df);
    say_fact('disk', 'inodes', read_program($inodes));
    my ($mount) = grep { m{^\S+ / } } reverse split /\n/, slurp('/proc/mounts') // '';
    say_fact('disk', 'mount', $mount);
    # Started before the drop: only root can measure the log folders.
    my ($used) = $df =~ /(\d+)%/;
    say_fact('disk', 'buffers', run_program('du', '-skx', '/var/log', '/var/lib/gpuaas')) if ($used // 0) >= 85;
    be_agent();
    my $file = "$diag/.hopdrill-$$";
    my $began = now();
    my ($step, $ok) = ('open', sysopen(my $out, $file, O_WRONLY | O_CREAT | O_EXCL, 0600));
    if ($ok) { $step = 'write'; my $block = 'x' x 65536; my $n = syswrite $out, $block; $ok = defined $n && $n == 65536; $! = Errno::ENOSPC() if defined $n && !$ok; }
    if ($ok) { $step = 'fsync'; require IO; $ok = IO::Handle::sync($out) }
    my $code = $ok ? 'ok' : errname($!);
    unlink $file;
    say_fact('disk', 'path', $diag); say_fact('disk', 'write', "$step $code"); say_fact('disk', 'write_ms', sprintf '%.1f', (now() - $began) * 1000);
});
section('files', sub {
    be_agent();
    for ([ca => $ca], [cert => $cert], [key => $key]) { my ($what, $path) = @$_; my $ok = open(my $in, '<', $path); say_fact('files', $what, $ok ? 'ok' : errname($!)) }
    # It would read the machine's whole trust store, which it does not ask: five times the time of everything else it does.
    @ENV{qw(SSL_CERT_FILE SSL_CERT_DIR)} = ('/dev/null', '/dev/null');
    my ($facts, $pair);
    for (1 .. 5) {
        my $public = -r $key ? start_program('openssl', 'pkey', '-in', $key, '-pubout') : undef;
        $facts = run_program('openssl', 'x509', '-in', $cert, '-noout', '-serial', '-issuer', '-startdate', '-enddate', '-ext', 'subjectAltName', '-pubkey');
        my ($pub) = $facts =~ s/(-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n)//s ? $1 : '';
        my $own = read_program($public);
        $pair = $pub eq '' ? 'no certificate' : $own eq '' ? 'no key' : $own eq $pub ? 'ok' : 'mismatch';
        last if $pair ne 'mismatch';
        pause();
    }
    say_fact('files', 'certificate', $facts);
    say_fact('files', 'pair', $pair);
});
sub process_facts {
    my $status = slurp("/proc/$pid/status") // '';
    say_fact('process', 'state', $1) if $status =~ /^State:\s+(\S)/m;
    opendir(my $dir, "/proc/$pid/fd") or return; my $open = grep { !/^\./ } readdir $dir;
    my ($most) = (slurp("/proc/$pid/limits") // '') =~ /^Max open files\s+(\d+)/m;
    say_fact('process', 'fds', "$open/" . ($most // '?'));
}
section('process', sub {
    process_facts() if $pid;
    # What follows is read where the agent reads it.
    enter_world();
    my @hosts = map { m{^https?://([^/:]+)} ? quotemeta $1 : () } grep { defined && length } $api, $term, $env{GPUAAS_RECOVERY_API_URL};
    my $any = join '|', @hosts;
    say_fact('hosts', 'entries', join "\n", grep { $any ne '' && !/^\s*#/ && /\s($any)(\s|$)/ } split /\n/, slurp('/etc/hosts') // '');
    say_fact('hosts', 'resolvers', join ' ', (slurp('/etc/resolv.conf') // '') =~ /^\s*nameserver\s+(\S+)/mg);
});
# One crash is not a loop: a unit that is between two starts, or young after a restart, is looked at again; for longer
# where the agent notes that it began thrice within half a minute, so that no crash falls between two looks.
my $up = $uptime - ($state{ActiveEnterTimestampMonotonic} || 0) / 1e6;
my $watch = 1.5;
my $longest_watch = ($term_ms > $dial_ms ? $term_ms : $dial_ms) / 1000 + 1;
sub between_starts {
    my @starts = sort { $a <=> $b } grep { defined } map { epoch($_) } ($record // '') =~ /"reason":\s*"process_alive"[^{}]*?"at":\s*"([^"]+)"/g;
    return 0 if @starts < 3 || $starts[-1] - $starts[-3] > 30;
    my ($one, $other) = ($starts[-1] - $starts[-2], $starts[-2] - $starts[-3]);
    return $one > $other ? $one : $other;
}
section('again', sub {
    my $left = between_starts() * 1.25 + 0.5 - $up;
    $watch = $left > $longest_watch ? $longest_watch : $left if $left > $watch;
    my %last; my $flips = 0;
    for (1 .. 10 * $watch) { select undef, undef, undef, 0.1; %last = unit_state(start_unit()); last if $last{NRestarts} > $state{NRestarts} && ++$flips > 2 }
    say_fact('again', $_, $last{$_}) for qw(ActiveState SubState NRestarts ExecMainStatus Result);
}) if ($state{SubState} // '') eq 'auto-restart' || (($state{NRestarts} || 0) > 1 && $up < $stale_s);
gather($longest_watch + 1);
say_fact('visit', 'end', ms());
