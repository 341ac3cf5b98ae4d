#!/usr/bin/env bash
# faults.sh reads what `go test -v` prints of the tests of faults and gives a table: what was done, how it ended, and how long it took.
set -euo pipefail

# words NAME says what a test does to the app, and what the app does then. A test without words stands there by its name.
words() {
  case $1 in
    TestFaultDiskFull) echo 'the disk is full | nothing is half written, and all goes on when there is room' ;;
    TestFaultReadOnly) echo 'the kernel makes the disk read-only | what is there stays, and the app says so' ;;
    TestFaultReadOnlyAtStart) echo 'the data folder is read-only at the start | nothing starts, and a sentence says why' ;;
    TestFaultDatabaseLocked) echo 'another program holds the database | a change waits, then fails with a sentence' ;;
    TestFaultDatabaseTorn) echo 'the database is cut off, or overwritten | it is left as it is, and nothing starts in its place' ;;
    TestFaultGit) echo 'git is missing, broken, or hangs | it is named, or ended, and nothing is harmed' ;;
    TestFaultNoDescriptors) echo 'no descriptor is left | the app says so, and goes on when there are' ;;
    TestFaultNoTerminals) echo 'no pseudo-terminal is left | a tab is refused, and the others live' ;;
    TestFaultCageKilled) echo 'the first process of a cage is killed | all that was in the cage is gone, and the tab says so' ;;
    TestFaultTwoApps) echo 'a second app on the same profile | the first is left alone' ;;
    TestFaultServerAway) echo 'the server of a home goes away | nothing else hangs, and all goes on when it is back' ;;
    TestPortThatIsTaken) echo 'a port of a task is taken | its status says so' ;;
    TestLeftoversOfAKilledApp) echo 'the app is killed, and leaves programs behind | the next start ends them' ;;
    TestStoppedApp) echo 'the app is stopped while an agent works, and killed | work goes on, or is ended by the next start' ;;
    TestStoppedCages) echo 'processes of cages are stopped and killed | nothing opens by that, and nothing hangs' ;;
    TestKillLoop) echo 'the app is killed at random instants | what was acknowledged is there' ;;
    *Suspend*) echo 'the machine sleeps, and its clock jumps | times that were to come come once' ;;
    *) echo "$1 |" ;;
  esac
}

printf '| what is done | what the app does | | |\n|---|---|---|---|\n'
sed -nE 's/^--- (PASS|FAIL|SKIP): (Test[A-Za-z0-9]+) \(([0-9.]+)s\)$/\1 \2 \3/p' | while read -r how name seconds; do
  case $how in PASS) how=held ;; FAIL) how='NOT HELD' ;; SKIP) how='not tested here' ;; esac
  printf '| %s | %s | %.1f s |\n' "$(words "$name")" "$how" "$seconds"
done
