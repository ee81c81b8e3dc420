# Third part: name, address, certificate, answer.
my %eai = (-2 => 'EAI_NONAME', -3 => 'EAI_AGAIN', -4 => 'EAI_FAIL', -5 => 'EAI_NODATA');
sub resolve {
    my ($host, $until) = @_;
    return ([$host], undef) if $host =~ /^[\d.]+$/ || $host =~ /:/;
    pipe(my $read, my $write) or return ([], 'EPIPE');
    my $child = fork();
    if (!$child) {
        close $read;
        my ($code, @found) = getaddrinfo($host, '', { socktype => SOCK_STREAM });
        my %seen;
        my @addresses = grep { defined && !$seen{$_}++ } map { (getnameinfo($_->{addr}, NI_NUMERICHOST, NIx_NOSERV))[1] } @found;
        my $text = ($code + 0) ? 'error ' . ($code + 0) : join ' ', 'ok', @addresses;
        syswrite $write, $text; exit 0;
    }
    close $write;
    my $bits = ''; vec($bits, fileno($read), 1) = 1;
    my $left = $until - now();
    if (select($bits, undef, undef, $left > 0 ? $left : 0) < 1) { kill 9, $child; waitpid $child, 0; return ([], 'TIMEOUT') }
    sysread $read, my $text, 4096; waitpid $child, 0;
    my ($word, @rest) = split ' ', $text // 'error 0';
    return $word eq 'ok' ? ([@rest], undef) : ([], $eai{$rest[0]} // "EAI$rest[0]");
}
# What the resolver itself says: its answer code, or that none came. The library call above hides that.
sub resolver_says {
    my ($host) = @_;
    my ($server) = (slurp('/etc/resolv.conf') // '') =~ /^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)/m or return 'no nameserver';
    socket(my $sock, AF_INET, SOCK_DGRAM, 0) or return 'no socket';
    connect($sock, pack_sockaddr_in(53, inet_aton($server))) or return "$server " . errname($!);
    my $query = pack('n6', 0x4844, 0x0100, 1, 0, 0, 0) . join('', map { chr(length) . $_ } split /\./, $host) . "\0" . pack('n2', 1, 1);
    send($sock, $query, 0);
    my $bits = ''; vec($bits, fileno($sock), 1) = 1;
    return "$server NOANSWER" if select($bits, undef, undef, 1) < 1;
    defined recv($sock, my $answer, 1500, 0) or return "$server " . errname($!);
    return "$server SHORT" if length $answer < 12;
    my (undef, $flags, undef, $count) = unpack 'n4', $answer;
    return "$server RCODE" . ($flags & 15) . " answers=$count";
}
# Far longer than a healthy answer takes on a busy machine.
my $patience = 0.6;
my $knock;
sub tcp {
    my ($address, $port, $until) = @_;
    my $six = $address =~ /:/;
    socket(my $sock, $six ? AF_INET6 : AF_INET, SOCK_STREAM, 0) or return errname($!);
    fcntl $sock, F_SETFL, fcntl($sock, F_GETFL, 0) | O_NONBLOCK;
    my $to = $six ? pack_sockaddr_in6($port, inet_pton(AF_INET6, $address)) : pack_sockaddr_in($port, inet_aton($address));
    return undef if connect $sock, $to;
    return errname($!) unless $!{EINPROGRESS};
    my $bits = ''; vec($bits, fileno($sock), 1) = 1;
    my $soon = $bits;
    if (select(undef, $soon, undef, $patience) < 1) {
        $knock ||= knock($address, $port);
        my $left = $until - now();
        return 'TIMEOUT' if select(undef, $bits, undef, $left > 0 ? $left : 0) < 1;
    }
    my $code = unpack 'i', getsockopt($sock, SOL_SOCKET, SO_ERROR);
    return $code ? errname($code) : undef;
}
# A handshake of its own (no session is kept), the request written and its answer read.
sub tls {
    my ($name, $address, $port, $host, $path, $until, @more) = @_;
    my ($text, $ended, $tls_at);
    for (1 .. 5) {
        ($text, $ended, $tls_at) = handshake($address, $port, $host, $path, $until, @more);
        # A pair that cannot be read is no word about the server: it is asked without.
        if ($text =~ /^(?:Could not (?:read|open|find|load)|unable to load)/mi && grep { $_ eq '-cert' } @more) {
            say_fact($name, 'identity', 'unusable');
            @more = @more[0 .. $#more - 4];
            redo;
        }
        last unless $text =~ /key values mismatch/ && now() + 0.3 < $until;
        pause();
    }
    say_fact($name, 'tls_at', $tls_at);
    say_fact($name, 'ended', $ended);
    report_tls($name, $text);
}
# Certificate and key are two files: between the two renames of a renewal they do not match, for a moment.
sub pause { select undef, undef, undef, 0.1 }
sub handshake {
    my ($address, $port, $host, $path, $until, @more) = @_;
    my @verify = ($host =~ /^[\d.]+$/ || $host =~ /:/) ? ('-verify_ip', $host) : ('-verify_hostname', $host, '-servername', $host);
    my @argv = ('openssl', 's_client', '-connect', $address =~ /:/ ? "[$address]:$port" : "$address:$port", '-ign_eof', '-no-CApath', '-no-CAstore', @verify, @more);
    pipe(my $in_r, my $in_w); pipe(my $out_r, my $out_w);
    my $child = fork();
    if (!$child) {
        open(STDIN, '<&', $in_r); open(STDOUT, '>&', $out_w); open(STDERR, '>&', $out_w); close $in_w; close $out_r;
        exec { $argv[0] } @argv or exit 127;
    }
    close $in_r; close $out_w;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $in_w, "GET $path HTTP/1.1\r\nhost: $host\r\nx-correlation-id: $corr\r\nuser-agent: hopdrill-preflight\r\naccept: application/json\r\nconnection: close\r\n\r\n";
    my ($text, $ended, $tls_at) = ('', 0, '');
    my $impatient = now() + $patience;
    while (now() < $until) {
        my $bits = ''; vec($bits, fileno($out_r), 1) = 1;
        my $wait = $knock ? $until - now() : $impatient - now();
        if (select($bits, undef, undef, $wait > 0 ? $wait : 0) < 1) { $knock ||= knock($address, $port) if now() >= $impatient; next }
        if (!sysread $out_r, $text, 65536, length $text) { $ended = 1; last }
        $tls_at = ms() if $tls_at eq '' && $text =~ /^Certificate chain/m;
        last if $text =~ /^HTTP\/1\.\d \d+.*?\r\n\r\n/ms && answer_complete($text);
    }
    kill 9, $child; waitpid $child, 0;
    return ($text, $ended, $tls_at);
}
sub answer_complete {
    my ($head, $body) = $_[0] =~ /^(HTTP\/1\.\d \d+.*?)\r\n\r\n(.*)/ms or return 0;
    return $head =~ /^content-length:\s*(\d+)/mi ? length($body) >= $1 : 0;
}
sub report_tls {
    my ($name, $text) = @_;
    my %verify; $verify{$1} = $2 while $text =~ /^verify error:num=(\d+):(.*)$/mg;
    say_fact($name, 'verify_error', join ' ', sort { $a <=> $b } keys %verify);
    say_fact($name, 'certificate', $text =~ /^ 0 s:/m ? 1 : %verify ? 1 : 0);
    say_fact($name, 'asks_for_certificate', $text =~ /^(Acceptable client certificate CA names|Client Certificate Types|Requested Signature Algorithms)/m ? 1 : 0) if $text =~ /^Certificate chain/m;
    say_fact($name, 'subject', $1) if $text =~ /^ 0 s:(.*)$/m;
    say_fact($name, 'issuer', $1) if $text =~ /^ 0 s:.*\n\s+i:(.*)$/m;
    say_fact($name, 'validity', $1) if $text =~ /^\s+v:(NotBefore:.*)$/m;
    say_fact($name, 'protocol', $1) if $text =~ /^New, (TLS\S+),/m;
    say_fact($name, 'alert', $1) if $text =~ /SSL alert number (\d+)/;
    my @errors = $text =~ /error:([0-9A-F]{8}):[^:]*:[^:]*:([^:\n]*)/g;
    say_fact($name, 'openssl', "$errors[0] $errors[1]") if @errors;
    say_fact($name, 'io_errno', $1) if $text =~ /(?:write|read|connect):errno=(\d+)/;
    if ($text =~ /^(HTTP\/1\.\d (\d+).*?)\r\n\r\n(.*)/ms) {
        my ($head, $status, $body) = ($1, $2, $3);
        # What s_client adds behind the answer holds session secrets.
        $body = $head =~ /^content-length:\s*(\d+)/mi ? substr($body, 0, $1) : $body;
        $body =~ s/(?:---\n(?:Post-Handshake|read R BLOCK)|\r?\n?closed\n?$).*//s;
        say_fact($name, 'status', $status);
        for my $wanted (qw(date server content-type location x-gpuaas-product x-correlation-id)) { say_fact($name, "h:$wanted", $1) if $head =~ /^$wanted:\s*(.*?)\r?$/mi }
        say_fact($name, 'body', substr $body, 0, 1500);
    }
}
sub dial {
    my ($name, $url, $path, $budget_ms, $at, $both) = @_;
    my $until = now() + $budget_ms / 1000;
    say_fact($name, 'url', $url);
    say_fact($name, 'start', ms());
    my ($scheme, $host, $port) = $url =~ m{^(https?)://(\[[^\]]+\]|[^/:]+)(?::(\d+))?} or return say_fact($name, 'phase', 'url');
    $host =~ s/^\[|\]$//g; $port ||= $scheme eq 'https' ? 443 : 80;
    say_fact($name, 'endpoint', "$host:$port");
    my ($addresses, $dns) = $at ne '' ? ([$at], undef) : resolve($host, $until);
    say_fact($name, 'dns_at', ms());
    say_fact($name, 'addresses', join ' ', @$addresses);
    if ($dns) { say_fact($name, 'phase', 'dns'); say_fact($name, 'code', $dns); return say_fact($name, 'resolver', resolver_says($host)) }
    my $good;
    for my $address (@$addresses) {
        my $part = @$addresses > 1 ? now() + ($until - now()) / @$addresses : $until;
        my $code = tcp($address, $port, $part);
        say_fact($name, 'tcp', "$address " . ($code // 'ok'));
        if (!$code) { $good = $address; last }
        say_fact($name, 'code', $code);
    }
    say_fact($name, 'tcp_at', ms());
    if (!defined $good) { say_fact($name, 'knocks', answers($knock)) if $knock; return say_fact($name, 'phase', 'tcp') }
    say_fact($name, 'phase', 'tls');
    my @trust = ('-CAfile', $ca, '-verify_return_error', abs($offset // 0) > 60 ? ('-attime', int(now() + $offset)) : ());
    say_fact($name, 'ca_readable', -r $ca && -s $ca ? 1 : 0);
    my @identity = -r $cert && -r $key ? ('-cert', $cert, '-key', $key) : ();
    if ($both) {
        my $child = fork();
        if (!$child) { $knock ||= { since => 0, open => [] }; tls("$name-cert", $good, $port, $host, $path, $until, @trust, @identity) if @identity; say_fact("$name-cert", 'done', ms()); exit 0 }
        tls($name, $good, $port, $host, $path, $until, @trust);
        waitpid $child, 0;
    } else { tls($name, $good, $port, $host, $path, $until, @trust, @identity) }
    say_fact($name, 'knocks', answers($knock)) if $knock;
    say_fact($name, 'done', ms());
}
