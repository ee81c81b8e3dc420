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
    for my $file (($state{EnvironmentFiles} // '') =~ /(\/\S+)/g) {
        my $text = slurp($file); say_fact('env', 'file_missing', $file) unless defined $text;
        for (split /\n/, $text // '') { $env{$1} = $2 if /^\s*([A-Za-z_]\w*)=["']?(.*?)["']?\s*$/ }
    }
    for (split ' ', $state{Environment} // '') { $env{$1} = $2 if /^(\w+)=(.*)/ }
    say_fact('env', 'source', 'unit files');
}
my %shown = map { $_ => $env{$_} } grep { /^GPUAAS_(NODE_ID|PROFILE|API_URL|TERMINAL_API_URL|RECOVERY_API_URL|CA_BUNDLE_PATH|RECOVERY_CA_BUNDLE_PATH|CERT_PATH|KEY_PATH)$|^NODE_USE_ENV_PROXY$/ } keys %env;
say_fact('env', $_, $shown{$_}) for sort keys %shown;
say_fact('env', 'has_token', ($env{GPUAAS_ENROLLMENT_TOKEN} // '') eq '' ? 0 : 1);
say_fact('env', 'has_proxy', (grep { /^https_proxy$/i } keys %env) ? 1 : 0);
say_fact('clock', 'epoch_ms', sprintf '%.1f', now() * 1000);
my $ca = $env{GPUAAS_CA_BUNDLE_PATH} || '/etc/gpuaas/ca-bundle.crt';
my $cert = $env{GPUAAS_CERT_PATH} || '/etc/gpuaas/cert.pem';
my $key = $env{GPUAAS_KEY_PATH} || '/etc/gpuaas/key.pem';

