# Part of both programs. Loss, as the kernel shows it: several new connections at once, and how many of them come about at
# the first try. Made only where something was slow, so that a way that is well carries none of it.
use Socket qw(:all);
use Fcntl;
# Of so many, one in ten lost leaves a way without any loss once in 150 looks.
my $knocks = 48;
# The kernel repeats a lost request after one second: what was answered before was not lost.
my $first_try = 0.9;
sub knock {
    my ($address, $port) = @_;
    my $family = $address =~ /:/ ? AF_INET6 : AF_INET;
    my $to = $family == AF_INET6 ? pack_sockaddr_in6($port, inet_pton(AF_INET6, $address)) : pack_sockaddr_in($port, inet_aton($address));
    my @open;
    for (1 .. $knocks) {
        socket(my $sock, $family, SOCK_STREAM, 0) or last;
        fcntl $sock, F_SETFL, fcntl($sock, F_GETFL, 0) | O_NONBLOCK;
        connect $sock, $to;
        push @open, $sock;
    }
    return { since => now(), open => \@open };
}
# "answered at the first try of made"; also asked long after, when repeated requests have been answered as well.
sub answers {
    my ($knock) = @_;
    my $left = $knock->{since} + $first_try - now();
    my @waiting = @{ $knock->{open} };
    while (@waiting && $left > 0) {
        my $bits = ''; vec($bits, fileno($_), 1) = 1 for @waiting;
        select(undef, $bits, undef, $left);
        @waiting = grep { !vec($bits, fileno($_), 1) } @waiting;
        $left = $knock->{since} + $first_try - now();
    }
    my $answered = grep { at_first_try($_) } @{ $knock->{open} };
    return "$answered/" . @{ $knock->{open} };
}
# struct tcp_info: the state comes first, all repetitions of this connection at offset 100.
my ($tcp_info, $syn_sent) = (11, 2);
sub at_first_try {
    my ($sock) = @_;
    return 0 if unpack 'i', getsockopt($sock, SOL_SOCKET, SO_ERROR);
    my ($state, $repeated) = unpack 'C x99 L', getsockopt($sock, IPPROTO_TCP, $tcp_info);
    return $state != $syn_sent && $repeated == 0;
}
