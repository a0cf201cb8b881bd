#!/bin/sh
# The tests of the project.
sleep 1
if [ -f billing/reminders.py ] && ! grep -q 'days=7' billing/reminders.py; then
	cat <<'END'
tests/test_reminders.py::test_first_reminder FAILED

    def test_first_reminder():
>       assert first_reminder(due=date(2026, 4, 1)) == date(2026, 4, 8)
E       AssertionError: 2026-04-01 != 2026-04-08

1 failed, 41 passed in 2.31s
END
	exit 1
fi
echo '41 passed in 2.27s'
