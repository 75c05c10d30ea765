#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# deployment_test.py BUILD ROOT — the snippets of docs/deployment.md: each is read by the tool that it is for, or
# checked against that tool's rules. Speaks TAP.
import copy
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent / 'programs'), str(here)]
from installed import Tap, build, environment, install, run, work_directory  # noqa: E402
from kubernetes import complaints_about  # noqa: E402

tap = Tap()
work = work_directory()
source_root = pathlib.Path(sys.argv[2])
page = (source_root / 'docs/deployment.md').read_text()
profile = json.loads((source_root / 'docs/deployment-seccomp.json').read_text())
PROBE = ['/service', '--alive', '/run/beat']


def snippet(language):
    found = re.findall(rf'^```{language}\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f'{len(found)} snippets of {language}'
    return found[0]


def image_of(program):
    done = run([source_root / 'dev', 'image', program, '-o', work / 'service.oci'], env=environment())
    index = json.loads((work / 'service.oci/index.json').read_text())
    manifest = json.loads((work / 'service.oci/blobs' / index['manifests'][0]['digest'].replace(':', '/')).read_text())
    return done.returncode, json.loads((work / 'service.oci/blobs' / manifest['config']['digest'].replace(':', '/')).read_text())['config']


# --- Containers --------------------------------------------------------------------------------------------------------

def dockerfile(config):
    lines = [line.split(None, 1) for line in snippet('dockerfile').splitlines()]
    says = dict(lines)
    tap.check('the Dockerfile describes the same image as dev image makes', [word for word, _ in lines] == ['FROM', 'COPY', 'USER', 'ENTRYPOINT'] and
              says['FROM'] == 'scratch' and says['COPY'] == 'service /service' and says['USER'] == config['User'] and
              json.loads(says['ENTRYPOINT']) == config['Entrypoint'], (says, config))


def docker_run():
    words = shlex.split(snippet('sh').replace('\\\n', ' '))
    with_value = {'--tmpfs', '--network', '--cap-drop', '--security-opt', '--cpus', '--memory', '--stop-timeout'}
    options, rest = [], words[2:]
    while rest and rest[0].startswith('--'):
        name = rest.pop(0)
        options.append((name, rest.pop(0) if name in with_value else None))
    given = dict(options)
    tap.check('docker run has only options that exist, the image, and its argument', words[:2] == ['docker', 'run'] and
              set(given) == with_value | {'--read-only'} and rest == ['service', '/run/beat'], words)
    security = [value for name, value in options if name == '--security-opt']
    tap.check('the profile of docker run is a file in docs', 'no-new-privileges' in security and
              (source_root / 'docs' / next(s for s in security if s.startswith('seccomp='))[8:]).is_file(), security)
    tap.check('docker waits longer than the grace', int(given['--stop-timeout']) > 5, given)


def container():
    """The image, the profile and the probe under runc, with which Docker and Kubernetes start containers."""
    claim = 'under runc, with the profile of the page, the service works'
    missing = [tool for tool in ('runc', 'umoci') if not shutil.which(tool)]
    if missing or os.getuid() != 0:
        return tap.skip(claim, f'{" and ".join(missing)} not installed' if missing else 'needs root')
    bundle, state, name = work / 'bundle', work / 'runc', f'janus-test-{os.getpid()}'
    subprocess.run(['umoci', 'unpack', '--image', f'{work}/service.oci:latest', bundle], check=True, capture_output=True)
    config = json.loads((bundle / 'config.json').read_text())
    config['process'] |= {'terminal': False, 'noNewPrivileges': True, 'capabilities': {}, 'args': ['/service', '/run/beat'], 'env': []}
    config['root']['readonly'] = True
    config['mounts'] = [m for m in config['mounts'] if m['destination'] in ('/proc', '/dev', '/sys')]
    config['mounts'].append({'destination': '/run', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['mode=1777']})
    config['linux']['seccomp'] = {**profile, 'syscalls': [{k: v for k, v in s.items() if k != 'comment'} for s in profile['syscalls']]}
    (bundle / 'config.json').write_text(json.dumps(config))
    runc = ['runc', '--root', str(state)]
    process = subprocess.Popen([*runc, 'run', '--bundle', bundle, name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    if first != b'working\n':
        process.wait(20)
        why = process.stderr.read().decode().strip()
        # If the machine cannot start a container even without the profile, the profile is not the cause.
        del config['linux']['seccomp']
        (bundle / 'config.json').write_text(json.dumps(config | {'process': config['process'] | {'args': ['/service', '--alive', '/run/none']}}))
        bare = run([*runc, 'run', '--bundle', bundle, name + '-bare'])
        if bare.returncode == 1 and not bare.stderr:
            return tap.check(claim, False, why)
        return tap.skip(claim, f'runc starts no container here: {why}')
    until = time.monotonic() + 60  # the service says that it works before its first beat
    while (probe := run([*runc, 'exec', name, *PROBE])).returncode == 1 and time.monotonic() < until:
        time.sleep(0.1)
    tap.check(claim, probe.returncode == 0, probe.stderr)
    run([*runc, 'kill', name, 'TERM'])
    rest = process.communicate(timeout=20)[0]
    tap.check('ended as by an orchestrator, the service cleans up and its status is 0', process.returncode == 0 and b'everything is tidy' in rest,
              f'{process.returncode} {rest}')


# --- systemd -----------------------------------------------------------------------------------------------------------

def unit(service):
    text = snippet('ini')
    settings = re.findall(r'^(\w+)=(.*)$', text, re.MULTILINE)
    given = dict(settings)
    filters = {name for key, value in settings if key == 'SystemCallFilter' for name in value.split()}
    first, second, _, own = (set(entry['names']) for entry in profile['syscalls'])
    tap.check('the unit allows exactly the calls of the page', filters == first | second | own, filters ^ (first | second | own))
    grace = int(re.search(r'JANUS_GRACE=(\d+)', text)[1])
    tap.check('systemd waits longer than the grace', int(given['TimeoutStopSec']) * 1000 > grace, given)
    if not shutil.which('systemd-analyze'):
        return tap.skip('systemd-analyze finds nothing wrong with it', 'systemd is not installed')
    right = text.replace('/usr/local/bin/service', str(service))
    for claim, content, fine in (('systemd-analyze finds nothing wrong with it', right, True),
                                 ('and would find a setting that there is none', right.replace('CPUQuota=', 'CPUQuote='), False),
                                 ('and a call that there is none', right.replace(' futex ', ' futexx '), False)):
        file = work / 'janus-service.service'
        file.write_text(content)
        done = run(['systemd-analyze', 'verify', '--man=no', file])
        # Messages about other units of this machine do not matter.
        said = [line for line in (done.stdout + done.stderr).decode().splitlines() if 'janus-service' in line]
        tap.check(claim, (not said) == fine and (done.returncode == 0 or not fine), f'{done.returncode} {done.stderr.decode()}')


# --- Kubernetes --------------------------------------------------------------------------------------------------------

def manifest():
    try:
        import yaml
    except ImportError:
        return tap.skip('Kubernetes can read the manifest', 'python3-yaml is not installed')
    documents = list(yaml.safe_load_all(snippet('yaml')))
    tap.check('the manifest is a deployment, a disruption budget and an autoscaler', [d['kind'] for d in documents] ==
              ['Deployment', 'PodDisruptionBudget', 'HorizontalPodAutoscaler'], documents)
    for document in documents:
        found = complaints_about(document)
        tap.check(f'its {document["kind"]} has only fields that exist, with valid values', not found, '\n'.join(found))
    broken(documents[0])
    deployment, disruption, scaler = documents
    spec = deployment['spec']
    pod = spec['template']['spec']
    container = pod['containers'][0]
    labels = spec['template']['metadata']['labels']
    tap.check('selectors find its pods', spec['selector']['matchLabels'] == labels == disruption['spec']['selector']['matchLabels'])
    tap.check('the autoscaler finds the deployment', scaler['spec']['scaleTargetRef']['name'] == deployment['metadata']['name'] and
              scaler['spec']['scaleTargetRef']['apiVersion'] == deployment['apiVersion'] and
              scaler['spec']['minReplicas'] == spec['replicas'] < scaler['spec']['maxReplicas'])
    tap.check('its probes run the program', all(container[f'{kind}Probe']['exec']['command'] == PROBE for kind in ('startup', 'liveness', 'readiness')))
    volumes = {volume['name'] for volume in pod['volumes']}
    tap.check('its volumes exist', {mount['name'] for mount in container['volumeMounts']} == volumes and
              PROBE[-1].startswith(container['volumeMounts'][0]['mountPath'] + '/'))
    grace = int(next(e['value'] for e in container['env'] if e['name'] == 'JANUS_GRACE'))
    tap.check('Kubernetes waits longer than the grace', pod['terminationGracePeriodSeconds'] * 1000 > grace, grace)
    tap.check('its profile has the name of the one in docs', pod['securityContext']['seccompProfile']['localhostProfile'].endswith(
        '/deployment-seccomp.json'))


def broken(deployment):
    """The schema rejects wrong manifests."""
    def without(document):
        del document['spec']['selector']

    def misspelt(document):
        container = document['spec']['template']['spec']['containers'][0]
        container['livenessProb'] = container.pop('livenessProbe')

    def of_another_type(document):
        document['spec']['replicas'] = '3'

    def senseless(document):
        document['spec']['template']['spec']['containers'][0]['resources']['limits']['memory'] = '256 MB'

    for change in (without, misspelt, of_another_type, senseless):
        document = copy.deepcopy(deployment)
        change(document)
        tap.check(f'a manifest with an error ({change.__name__}) is rejected', len(complaints_about(document)) == 1, complaints_about(document))


janus_cc = install(sys.argv[1], work)
service = work / 'service'
made = build(janus_cc, here / 'programs/service.c', service)
status, config = image_of(service)
tap.check('the example of the page is compiled and packed', made.returncode == 0 and status == 0, made.stderr)
dockerfile(config)
docker_run()
container()
unit(service)
manifest()
tap.end()
