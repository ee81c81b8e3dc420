# The second look at a node, over the connection of the first: which of its ways lose packets, or take long. Run as root
# by the ops user; leaves nothing behind.
use strict;
use warnings;
use Time::HiRes ();
sub now { Time::HiRes::time() }
my ($pid, @ways) = @ARGV;
my $net = $pid =~ /^[1-9]\d*$/ ? own_namespace($pid, 'net') : undef;
enter_namespace($net, 'net') if $net;
my (%knock, @children);
for my $way (@ways) {
    my ($name, $address, $port) = split ' ', $way;
    $knock{$name} = knock($address, $port);
    my $child = fork();
    if (!$child) { print "$name\thandshake_ms\t", handshake_ms($address, $port), "\n"; exit 0 }
    push @children, $child;
}
print "$_\tknocks\t", answers($knock{$_}), "\n" for sort keys %knock;
waitpid $_, 0 for @children;
# Where a proxy accepts the connection, only what the far end says has come the whole way.
sub handshake_ms {
    my ($address, $port) = @_;
    my $began = now();
    my $child = fork();
    if (!$child) {
        open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null');
        alarm 2;
        exec 'openssl', 's_client', '-connect', $address =~ /:/ ? "[$address]:$port" : "$address:$port" or exit 127;
    }
    waitpid $child, 0;
    return sprintf '%.1f', (now() - $began) * 1000;
}
