// iptables rules that carry our tag as a comment: only those are ever removed. An iptables that
// does not answer is never "no rule".
export const removeRules = `# remove the rules with our tag
for chain in INPUT OUTPUT; do
  while rules=$(iptables -w 5 -L "$chain" -n --line-numbers) || exit 1; n=$(printf '%s\\n' "$rules" | awk -v t="/* $1 */" 'index($0, t) { print $1; exit }'); [ -n "$n" ]; do iptables -w 5 -D "$chain" "$n" || exit 1; done
done`;

export const rulesDigest = `# our rules, without counters
rules=$(iptables -w 5 -S) || exit 1; printf '%s\\n' "$rules" | grep -F -- "$1" || echo none`;
