# Second part: the agent's unit and its effective environment.
sub unit_state { return map { /^(\w+)=(.*)/ ? ($1 => $2) : () } split /\n/, read_program($_[0]) }
my %state = unit_state($unit_answer);
say_fact('unit', $_, $state{$_}) for grep { !/^Environment|ExecStart/ } @properties;
my ($uptime) = split ' ', slurp('/proc/uptime') // '0';
say_fact('unit', 'up_s', sprintf '%.2f', $uptime - ($state{ActiveEnterTimestampMonotonic} || 0) / 1e6);

my %env;
my $pid = $state{MainPID} || 0;
my $from = slurp("/proc/$pid/environ", 131072) if $pid;
if (defined $from && length $from) {
    %env = map { /^([^=]+)=(.*)/s ? ($1 => $2) : () } split /\0/, $from;
    say_fact('env', 'source', "process $pid");
} else {
    # A unit that is masked names none.
    my @files = ($state{EnvironmentFiles} // '') =~ /(\/\S+)/g;
    @files = ('/etc/gpuaas/env') if !@files && ($state{LoadState} // '') eq 'masked';
    for my $file (@files) {
        my $text = slurp($file); say_fact('env', 'file_missing', $file) unless defined $text;
        for (split /\n/, $text // '') { $env{$1} = $2 if /^\s*([A-Za-z_]\w*)=["']?(.*?)["']?\s*$/ }
    }
    for (split ' ', $state{Environment} // '') { $env{$1} = $2 if /^(\w+)=(.*)/ }
    say_fact('env', 'source', 'unit files');
}

# --- the agent's own world: its user and namespaces are those of the running process, where there is one ----------------
my @account = getpwnam($agent);
my ($uid, @groups) = process_user();
my %world = own_namespaces();
sub process_user {
    my $status = $pid ? slurp("/proc/$pid/status") // '' : '';
    return ($1, split ' ', "$2 $3") if $status =~ /^Uid:\s+(\d+).*?^Gid:\s+(\d+).*?^Groups:[ \t]*([^\n]*)/ms;
    return unless @account;
    my @of_account = ($account[3]);
    while (my @group = getgrent()) { push @of_account, $group[2] if grep { $_ eq $agent } split ' ', $group[3] }
    return ($account[2], @of_account);
}
sub own_namespaces {
    return () unless $pid;
    my %own = map { $_ => own_namespace($pid, $_) } qw(net mnt);
    return map { $_ => $own{$_} } grep { defined $own{$_} } keys %own;
}
sub enter_world { enter_namespace($world{$_}, $_) for grep { $world{$_} } qw(net mnt) }
sub be_agent {
    die "no such user $agent\n" unless defined $uid;
    enter_world();
    $( = $groups[0]; $) = join ' ', $groups[0], @groups; ($<, $>) = ($uid, $uid);
    die "cannot become user $uid\n" if $> != $uid || $< != $uid;
}
say_fact('process', 'user', (getpwuid($uid))[0] // $uid) if defined $uid;
say_fact('process', 'namespaces', join ' ', sort keys %world) if %world;

my %shown = map { $_ => $env{$_} } grep { /^GPUAAS_(NODE_ID|PROFILE|API_URL|TERMINAL_API_URL|RECOVERY_API_URL|CA_BUNDLE_PATH|RECOVERY_CA_BUNDLE_PATH|CERT_PATH|KEY_PATH)$|^NODE_USE_ENV_PROXY$/ } keys %env;
say_fact('env', $_, $shown{$_}) for sort keys %shown;
say_fact('env', 'has_token', ($env{GPUAAS_ENROLLMENT_TOKEN} // '') eq '' ? 0 : 1);
say_fact('env', 'has_proxy', (grep { /^https_proxy$/i } keys %env) ? 1 : 0);
say_fact('clock', 'epoch_ms', sprintf '%.1f', now() * 1000);
my $ca = $env{GPUAAS_CA_BUNDLE_PATH} || '/etc/gpuaas/ca-bundle.crt';
my $cert = $env{GPUAAS_CERT_PATH} || '/etc/gpuaas/cert.pem';
my $key = $env{GPUAAS_KEY_PATH} || '/etc/gpuaas/key.pem';
# The path is asked as the agent asks it: with the name that it believes to have.
my $self = ($env{GPUAAS_NODE_ID} // '') =~ /^([a-z0-9][a-z0-9-]*)$/ ? $1 : $node;

# --- the agent's clock: the time that it wrote into its record against the time at which the file was written -----------
my $diag = '/var/lib/gpuaas/diagnostics';
my $record = slurp("$diag/current.json", 131072);
say_fact('record', 'json', $record) if defined $record;
my $written = defined $record ? (stat "$diag/current.json")[9] : 0;
say_fact('record', 'written_ms', $written * 1000) if $written;
my $offset = agent_offset();
say_fact('clock', 'agent_offset_ms', $offset * 1000) if defined $offset;
sub agent_offset {
    return undef unless $written && $pid && ($record =~ /"pid":\s*(\d+)/ ? $1 : 0) == $pid;
    my $told = epoch($record =~ /"updated_at":\s*"([^"]+)"/ ? $1 : '');
    return defined $told ? $told - $written : undef;
}
sub epoch {
    my ($y, $m, $d, $hours, $minutes, $seconds) = $_[0] =~ /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/ or return undef;
    return days($y, $m, $d) * 86400 + $hours * 3600 + $minutes * 60 + $seconds;
}
# Days since 1970 in the calendar of today.
sub days {
    my ($y, $m, $d) = @_;
    $y-- if $m <= 2;
    my $shifted = int(365.25 * $y) - int($y / 100) + int($y / 400);
    return $shifted + int((153 * ($m + ($m > 2 ? -3 : 9)) + 2) / 5) + $d - 719469;
}

