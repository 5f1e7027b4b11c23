#!/usr/bin/env bash
# slurm.sh HEDDLE SOURCE: an array of 8 under a Slurm of this machine's own, started here; then merge. Exit code 77: there is no
# Slurm, or it cannot run here.
set -u
heddle=$(realpath "$1") source=$(realpath "$2")
skip() { echo "skipped: $*"; exit 77; }
for p in slurmctld slurmd sbatch munged; do command -v $p >/dev/null || [ -x /usr/sbin/$p ] || skip "no $p"; done
[ "$(id -u)" -eq 0 ] || skip "slurmd runs as root"
PATH=$PATH:/usr/sbin
d=$(mktemp -d); chmod 755 "$d"; cd "$d"
mkdir state spool work
ended() {
  for p in slurmd slurmctld; do [ -f $d/$p.pid ] && kill "$(cat $d/$p.pid)" 2>/dev/null; done
  [ -n "${munge:-}" ] && kill "$munge" 2>/dev/null
  sleep 0.5; cd /; rm -rf "$d"
}
trap ended EXIT
head -c 128 /dev/urandom > munge.key; chmod 400 munge.key
munged --foreground --force --key-file="$d/munge.key" --socket="$d/munge.sock" --pid-file="$d/munge.pid" \
  --log-file="$d/munge.log" --seed-file="$d/munge.seed" > munge.out 2>&1 & munge=$!
host=$(hostname -s) cpus=$(nproc)
cat > slurm.conf <<END
ClusterName=heddle
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$d/munge.sock
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${SLURM_TEST_PORT:-27817}
SlurmdPort=$((${SLURM_TEST_PORT:-27817} + 1))
SlurmctldPidFile=$d/slurmctld.pid
SlurmdPidFile=$d/slurmd.pid
SlurmctldLogFile=$d/slurmctld.log
SlurmdLogFile=$d/slurmd.log
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$d/slurm.conf
slurmctld -c > ctld.out 2>&1 && slurmd > slurmd.out 2>&1 || { cat ctld.out slurmd.out *.log 2>/dev/null | tail -20; skip "Slurm does not start"; }
for i in $(seq 60); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 0.5; done
sinfo -h -o %t 2>/dev/null | grep -q idle || { tail -5 *.log; skip "no node is idle"; }
cd work
sweep="sweep matmul-tiled --size tiny --gpu gtx580 -o sweep.csv"
export HEDDLE=$heddle
$heddle ${sweep/sweep.csv/one.csv} || exit 1
job=$(sbatch --parsable --array=1-8 --export=ALL --output=%a.out "$source/scripts/slurm/array.sbatch" $sweep) || { tail -5 ../*.log; exit 1; }
for i in $(seq 240); do [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break; sleep 0.5; done
[ "$(ls sweep.*-of-8.journal | wc -l)" = 8 ] || { cat *.out; echo "FAILED  an array of 8 leaves 8 journals"; exit 1; }
[ ! -e sweep.csv ] && $heddle merge sweep.*-of-8.journal && cmp one.csv sweep.csv || { cat *.out; echo "FAILED  merge of an array"; exit 1; }
echo "ok      an array of 8 under Slurm, merged, has the bytes of one run"
