# Sourced by tour.sh after stage.sh: brings tasks of three projects into the states that pictures show. Agents are the
# scripts in test/tour/testdata, which are copied to a short path because pages show it.
files=$(cd "$(dirname "$0")/../test/tour/testdata" && pwd)
agents=/tmp/agents
mkdir "$agents"
trap 'rm -rf "$agents"; finish' EXIT
cp "$files"/agents/* "$agents"
export PATH="$agents:$PATH" # with a program that stands in for Claude Code

create() { # create PROJECT BRANCH TITLE SCRIPT [FLAG...]: prints the id of the new task
	project=$1 branch=$2 title=$3 script=$4
	shift 4
	answer=$(orange task create ${branch:+"$branch"} "$title" --project "$project" --harness "script:$agents/$script.yaml" "$@" --json 2>"$work/notes") || { cat "$work/notes" >&2; exit 1; }
	printf '%s\n' "$answer" | sed 's/.*"task":{"id":"\([0-9A-Za-z]*\)".*/\1/'
}
says() { orange task show "$1" --json | grep -q "$2"; }      # says TASK WORDS, in its record
prints() { orange task log "$1" --role worker | grep -q "$2"; } # prints TASK WORDS, its worker
reaches() { orange task wait "$1" --for "$2" --timeout 120s >/dev/null; }

# make_stage creates 12 open tasks and a merged one, in three projects, and sets $review, $question, $permission,
# $search, $merged and $later to the ids of tasks.
make_stage() {
	orange serve --web=127.0.0.1:0 --dev >"$work/serve.log" 2>&1 &
	until_it "a server" orange status
	repository shop "$files/shop"
	orange project add --pool-size 6 --check "tests=./test.sh" --max-day-cost 20 >/dev/null
	repository billing "$files/billing"
	orange project add --pool-size 5 --check "tests=./test.sh" >/dev/null
	repository docs "$files/docs"
	orange project add --pool-size 3 --workflow joan-board --max-day-cost 5 >/dev/null

	merged=$(create shop footer "Show the year in the footer" footer)
	review=$(create shop round-per-line "Round each line of the cart, not only its total" rounding -m "The invoice rounds each line to a cent, the cart only its total. They differ by a cent for one order in forty.

- Round each line to a cent, half to even, as the invoice does.
- The total of the cart is the sum of its lines.
- Say so in docs/prices.md.")
	question=$(create billing vat-id "Check the VAT id before the first invoice" question -m "Ask the service of the EU whether the id is valid, and keep its answer with the invoice.")
	export=$(create billing export-csv "Export invoices as CSV" export)
	credit=$(create billing credit-notes "Issue credit notes" credit)
	reminders=$(create billing reminders "Remind customers a week after an invoice is due" reminders)
	reaches "$merged" reviewing
	orange task merge "$merged" >/dev/null 2>&1
	search=$(create shop search "Let customers search by title and author" search)
	permission=$(create shop gift-cards "Accept gift cards at the checkout" busy --harness claude --permissions ask)
	crash=$(create shop start-page-cache "Cache the start page for guests" crash)
	later=$(create shop search-filters "Filter what a search finds by price" busy --after search)
	limited=$(create docs quickstart "Rewrite the quick start for version 3" limited --workflow orange)
	create docs broken-links "Mend the broken links of the reference" busy --workflow orange --no-spawn >/dev/null
	orange board add "Write a migration guide for version 3" --description "Readers of version 2.4 and later want to know what to change." --harness "script:$agents/card.yaml" >/dev/null
	orange board add "Explain webhooks with a worked example" --description "What is sent, how it is signed, what is sent again." --no-task >/dev/null

	reaches "$export" reviewing
	reaches "$credit" reviewing
	orange land pause billing >/dev/null
	orange task merge "$export" --no-wait >/dev/null
	orange task merge "$credit" --no-wait >/dev/null
	reaches "$merged" done
	reaches "$review" reviewing
	reaches "$question" clarification
	until_it "a permission dialog" says "$permission" '"name":"waiting-permission"'
	until_it "a crash" says "$crash" '"crashed":"fixer"'
	until_it "an agent at work" prints "$search" "words of the query"
	until_it "a failed check" prints "$reminders" "The check says"
	until_it "a limit" prints "$limited" "usage limit"
	until_it "a plan" sh -c 'orange board show 1 | grep -q Plan-Pending-Approval'
}

# titles prints the titles of NUMBER tasks, each after its project.
titles() {
	awk -v number="$1" 'BEGIN {
		add("shop", "Show", "stock|delivery dates|reviews|discounts|sizes|related books", "on the product page|in the cart|on the start page|on the receipt|in search results|in the wish list")
		add("shop", "Let customers", "save|share|print|compare|repeat", "a wish list|an order|a receipt|a cart|a product page|a search")
		add("shop", "Keep", "the address|the coupon|the language|the currency|the sorting", "after a failed payment|after signing in|between two visits|on the phone")
		add("shop", "Speed up", "the search|the start page|the cart|the checkout|the catalogue", "for guests|with many products|on slow phones|during sales")
		add("shop", "Log", "failed payments|slow pages|empty searches|abandoned carts", "by country|by browser|once an hour")
		add("shop", "Offer", "gift wrapping|express shipping|pick-up in the store|payment by invoice|a subscription", "from the second order on|in three countries|to business customers")
		add("billing", "Send", "invoices|reminders|credit notes|receipts", "by post|in the language of the customer|at night|to two addresses")
		add("billing", "Show", "open items|refunds|reminders|taxes", "by month|by customer|by country|of one order")
		add("billing", "Archive", "invoices|quotes|reminders|exports", "for ten years|after a year|in the cold store")
		add("billing", "Export", "reminders|refunds|open items|tax totals|credit notes", "as CSV|as PDF|for the tax adviser|once a month|by customer")
		add("billing", "Refuse", "an invoice|a refund|a credit note|a reminder", "without an address|without a customer|in another currency|in a closed month")
		add("billing", "Number", "credit notes|reminders|refunds|quotes", "without gaps|by year|by country")
		add("docs", "Explain", "keys|limits of calls|paging|errors|retries|signatures|time zones", "with an example|for beginners|in the quick start|in the reference")
		add("docs", "Translate", "the quick start|the reference|the page about errors|the page about keys", "into Spanish|into French|into Polish|into Dutch")
		add("docs", "Check", "every example|every link|every screenshot|the glossary|the sitemap", "of version 2|of version 3|in the build|once a week")
		add("docs", "Shorten", "the introduction|the page about webhooks|the page about carts|the FAQ", "for beginners|by half|and add a picture")
		for (i = 0; i < number; i++) print line[i * 89 % n]
	}
	function add(project, verb, first, second,    a, b, i, j, m, k) {
		m = split(first, a, "|"); k = split(second, b, "|")
		for (i = 1; i <= m; i++) for (j = 1; j <= k; j++) line[n++] = project "\t" verb " " a[i] " " b[j]
	}'
}

# fill_stage brings the number of open tasks to 300: some in every state, the others in the backlog.
fill_stage() {
	orange project update shop --pool-size 40 >/dev/null
	orange project update billing --pool-size 24 >/dev/null
	reviews='' n=0
	titles 292 >"$work/titles"
	while IFS="$(printf '\t')" read -r project title; do
		n=$((n + 1)) flow='' script=busy flags=--no-spawn
		if [ "$project" = docs ]; then flow='--workflow orange'; fi
		case $project-$((n % 12)) in
		shop-[15] | billing-5) if [ $n -lt 120 ]; then flags='' script=small; fi ;;
		shop-[29] | billing-2) if [ $n -lt 100 ]; then flags=''; fi ;;
		shop-7 | billing-7) if [ $n -lt 90 ]; then flags='' script=question; fi ;;
		billing-[48]) if [ $n -lt 60 ]; then flags='' script=crash; fi ;;
		docs-[246]) if [ $n -lt 120 ]; then flags=''; fi ;; # its pool is full: they are queued
		shop-[68]) if [ $n -lt 120 ]; then flags='--after search'; fi ;;
		esac
		# shellcheck disable=SC2086 # flags are words
		id=$(create "$project" "" "$title" $script $flow $flags </dev/null)
		if [ $script = small ]; then reviews="$reviews $project/$id"; fi
	done <"$work/titles"
	n=0
	for task in $reviews; do
		reaches "${task#*/}" reviewing
		case $task in
		shop/*) if [ $((n += 1)) -le 4 ]; then orange task merge "${task#*/}" >/dev/null 2>&1; fi ;;
		esac
	done
}
